# Work that takes time by its argument, and nothing else.
def spin(n)
  x = i = 0
  while i < 200 * n
    x += i % 7
    i += 1
  end
  x
end

# Calls all of them so often, each time in another order.
def rounds(calls, count)
  while count > 0
    calls.shuffle!
    i = 0
    while i < calls.size
      calls[i].call
      i += 1
    end
    count -= 1
  end
end
