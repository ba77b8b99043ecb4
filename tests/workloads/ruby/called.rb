=begin
C below Ruby, and Ruby that C calls.

path 8.3 <main>;rounds;mapped;block in mapped;spin
path 8.3 <main>;rounds;compared;block in compared;spin
path 8.3 <main>;rounds;ordered;<=>;spin
path 8.3 <main>;rounds;replaced;block in replaced;spin
path 8.3 <main>;rounds;filled;block in filled;spin
path 8.3 <main>;rounds;reduced;block in reduced;spin
path 8.3 <main>;rounds;written;to_s;spin
path 8.3 <main>;rounds;hashed;hash;spin
path 8.3 <main>;rounds;equal;==;spin
path 8.3 <main>;rounds;coerced;coerce;spin
path 8.3 <main>;rounds;listed;each;block in listed;spin
path 8.3 <main>;rounds;sent;twice;spin
path 8.3 <main>;rounds;gone;const_missing;spin
path 8.3 <main>;rounds;nested;block in nested;block \(2 levels\) in nested;spin
path tag deflate.*|compress2? <main>;rounds;squeezed
path tag inflate.* <main>;rounds;widened
path tag (SHA256|sha256|MD5|OpenSSL|EVP_).* <main>;rounds;digested.*
path - <main>;rounds(;(?!spin)[^;]+)*
=end
require_relative 'rounds'
require 'zlib'
require 'digest'

def mapped
  [1, 2].map { spin(5) }
end

def compared
  [2, 1].sort { |a, b| spin(10) && a <=> b }
end

class Item
  include Enumerable

  def <=>(other)
    spin(10) - spin(0)
  end

  def to_s
    spin(10)
    'a'
  end

  def hash
    spin(10)
  end

  def ==(other)
    spin(10) && true
  end

  def coerce(other)
    spin(10)
    [1, 2]
  end

  def each
    yield 1
  end

  def twice
    spin(10)
  end
end

def ordered
  [Item.new, Item.new].sort
end

def replaced
  'xaxb'.gsub(/[ab]/) { spin(5).to_s }
end

def filled
  Hash.new { |h, k| spin(k) }[10]
end

def reduced
  (1..3).inject { |a, b| spin(5) }
end

def written
  "#{Item.new}"
end

def hashed
  { Item.new => 1 }
end

def equal
  [Item.new].include?(1)
end

def coerced
  1 + Item.new
end

def listed
  Item.new.map { spin(10) }
end

def sent
  [Item.new].each(&:twice)
end

def Object.const_missing(name)
  spin(10)
end

def gone
  Nothing
end

def nested
  [[1], [2]].each { |list| list.each { spin(5) } }
end

DATA_ = Random.new(3).bytes(4000)
PACKED = Zlib.deflate(DATA_)

def squeezed
  Zlib.deflate(DATA_)
end

def widened
  Zlib.inflate(PACKED)
end

def digested
  Digest::SHA256.digest(DATA_)
end

calls = %i[mapped compared ordered replaced filled reduced written hashed equal coerced listed sent gone nested squeezed widened digested]
rounds(calls.map { |name| method(name) }, ARGV[0].to_i)
