-- Strings sorted, matched and joined: another kind of work than words.lua.
-- "lua5.4 other.lua [STRINGS]"; the output depends on nothing else.
local strings = tonumber(arg[1]) or 400000
local list = {}
for i = 1, strings do
    list[#list + 1] = ("%d:%s"):format(i % 977, tostring(i * 7919 % 1009))
end
table.sort(list, function(a, b)
    return a < b
end)
local sum = 0
for _, s in ipairs(list) do
    local a, b = s:match("(%d+):(%d+)")
    sum = sum + #s:gsub("%d", "x") + tonumber(a) - tonumber(b)
end
print(sum, #table.concat(list, ","))
