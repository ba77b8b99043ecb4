=begin
Recursion: of as many calls as the second argument says, below them half of the work each on two paths.

path 50 (<main>;main|\[script functions not read\]);down(;down)*;left;spin
path 50 (<main>;main|\[script functions not read\]);down(;down)*;right;spin
path - <main>(;main)?
path - (<main>;main|\[script functions not read\]);down(;down)*(;left|;right)?
=end
require_relative 'rounds'

def left
  spin(40)
end

def right
  spin(40)
end

def down(depth)
  return down(depth - 1) if depth > 1
  i = 0
  while i < 50
    left
    right
    i += 1
  end
end

def main(rounds, depth)
  while rounds > 0
    down(depth)
    rounds -= 1
  end
end

main(ARGV[0].to_i, ARGV[1].to_i)
