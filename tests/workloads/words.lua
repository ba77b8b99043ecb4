-- Words, tables, callbacks and recursion. "lua words.lua [ROUNDS [SEED]]"; the output depends on nothing else.
local rounds = tonumber(arg[1] or "100")

local seed = tonumber(arg[2] or "42")
local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return (seed >> 8) % n + 1
end

local syllables = { "ka", "to", "mi", "ren", "sol", "va", "lu", "pex", "dra", "on" }

local function make_word()
    local parts = {}
    for i = 1, 1 + random(4) do
        parts[i] = syllables[random(#syllables)]
    end
    return table.concat(parts)
end

local function make_text(n)
    local text = {}
    for i = 1, n do
        text[i] = make_word()
    end
    return table.concat(text, " ")
end

local function count_words(text)
    local counts = {}
    for word in text:gmatch("%a+") do
        counts[word] = (counts[word] or 0) + 1
    end
    return counts
end

local function ranking(counts)
    local list = {}
    for word, n in pairs(counts) do
        list[#list + 1] = { word = word, n = n }
    end
    table.sort(list, function(a, b)
        if a.n ~= b.n then
            return a.n > b.n
        end
        return a.word < b.word
    end)
    return list
end

local function shout(text)
    return (text:gsub("%a+", function(word)
        if #word > 6 then
            return word:upper():reverse()
        end
    end))
end

-- Trees: built, folded and printed by recursion.
local function tree(depth)
    if depth == 0 then
        return { leaf = random(100) }
    end
    return { left = tree(depth - 1), right = tree(depth - 1) }
end

local function sum(node)
    if node.leaf then
        return node.leaf
    end
    return sum(node.left) + sum(node.right)
end

local function show(node)
    if node.leaf then
        return tostring(node.leaf)
    end
    return string.format("(%s %s)", show(node.left), show(node.right))
end

local function queens(n)
    local columns, found = {}, 0
    local function place(row)
        if row > n then
            found = found + 1
            return
        end
        for column = 1, n do
            local free = true
            for other = 1, row - 1 do
                local distance = columns[other] - column
                if distance == 0 or distance == row - other or distance == other - row then
                    free = false
                    break
                end
            end
            if free then
                columns[row] = column
                place(row + 1)
            end
        end
    end
    place(1)
    return found
end

local account = setmetatable({}, {
    __index = function(_, key)
        return #key
    end,
})

local check = 0
for round = 1, rounds do
    local text = make_text(6000)
    local list = ranking(count_words(text))
    local loud = shout(text)
    local t = tree(11)
    check = (check + sum(t) + #show(t) + #loud + list[1].n + account[list[#list].word]) % 1000003
    if round % 25 == 1 then
        print(round, #list, list[1].word, list[1].n, loud:sub(1, 40), check)
    end
end
print("queens", queens(7))
print("check", check)
