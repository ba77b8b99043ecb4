import re,collections
n=collections.Counter(); cur='main'
for l in open('/tmp/sp/vlog',errors='replace'):
    m=re.match(r'Validating (\w+)\(\) func#(\d+)',l)
    if m: cur=m.group(1); continue
    if re.match(r'^\d+: \([0-9a-f]{2}\)',l): n[cur]+=1
for k,v in n.most_common(16): print(v,k)
print(sum(n.values()))
