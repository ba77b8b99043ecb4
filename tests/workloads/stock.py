"""A store of goods: classes, dictionaries, JSON, sorting with keys, generators, regular expressions.

"python3 stock.py [GOODS]"; the output depends on nothing else.
"""
import json
import re
import sys
from collections import defaultdict

seed = 99


def random(n):
    global seed
    seed = (seed * 1103515245 + 12345) % 2147483648
    return (seed >> 8) % n


class Good:
    def __init__(self, number, kind):
        self.number, self.kind = number, kind
        self.price = random(10000) / 100
        self.tags = ["tag%d" % random(30) for _ in range(random(5))]

    def value(self, count):
        return self.price * count

    def as_dict(self):
        return {"number": self.number, "kind": self.kind, "price": self.price, "tags": self.tags}


class Perishable(Good):
    def __init__(self, number, kind):
        super().__init__(number, kind)
        self.days = random(60)

    def value(self, count):
        return super().value(count) * (1 if self.days > 7 else 0.5)

    def as_dict(self):
        return {**super().as_dict(), "days": self.days}


class Store:
    def __init__(self):
        self.goods, self.counts = [], defaultdict(int)

    def fill(self, n):
        for number in range(n):
            make = Perishable if random(3) == 0 else Good
            good = make(number, ("food", "tool", "book", "toy")[random(4)])
            self.goods.append(good)
            self.counts[number] += 1 + random(20)

    def value(self):
        return sum(good.value(self.counts[good.number]) for good in self.goods)

    def by_tag(self):
        found = defaultdict(list)
        for good in self.goods:
            for tag in good.tags:
                found[tag].append(good)
        return found


def depth(tree):
    return 1 + max((depth(branch) for branch in tree), default=0)


def tree(n):
    return [tree(n - 2), tree(n - 1)] if n > 1 else []


def main():
    store = Store()
    store.fill(int(sys.argv[1]) if len(sys.argv) > 1 else 100000)
    print("value %.2f" % store.value())
    text = json.dumps([good.as_dict() for good in store.goods])
    back = json.loads(text)
    print(len(text), len(back))
    dear = sorted(back, key=lambda good: (-good["price"], good["number"]))
    print([good["number"] for good in dear[:5]])
    for tag, goods in sorted(store.by_tag().items(), key=lambda entry: (-len(entry[1]), entry[0]))[:3]:
        print(tag, len(goods))
    digits = re.sub(r'"price": (\d+)\.(\d+)', lambda match: match[2] + match[1], text)
    print(len(digits), len(re.findall(r"tag1\d", digits)))
    print(depth(tree(18)))


main()
