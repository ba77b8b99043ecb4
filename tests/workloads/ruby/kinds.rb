=begin
Each kind of function that Ruby has.

path 3.4 <main>;rounds;block in <main>;spin
path 3.4 <main>;rounds;blocks;block in blocks;spin
path 3.4 <main>;rounds;nested;block in nested;block \(2 levels\) in nested;spin
path 3.4 <main>;rounds;yields;yielder;block in yields;spin
path 3.4 <main>;rounds;lambdas;block in lambdas;spin
path 3.4 <main>;rounds;for_all;block in for_all;spin
path 3.4 <main>;rounds;methods;method_;spin
path 3.4 <main>;rounds;methods;of_class;spin
path 3.4 <main>;rounds;methods;method_missing;spin
path 3.4 <main>;rounds;methods;block in <class:Kinds>;spin
path 3.4 <main>;rounds;methods;from_module;spin
path 3.4 <main>;rounds;methods;inherited;inherited;spin
path 3.4 <main>;rounds;methods;\[\];spin
path 3.4 <main>;rounds;methods;of_object;spin
path 3.4 <main>;rounds;made;initialize;spin
path 3.4 <main>;rounds;opened;opened;<class:Opened>;spin
path 3.4 <main>;rounds;executed;in_text;spin
path 3.4 <main>;rounds;evaluated;evaluated;spin
path 3.4 <main>;rounds;instance;block in instance;spin
path 3.4 <main>;rounds;loaded;<top \(required\)>;spin
path 3.4 <main>;rounds;größe_名前;spin
path 3.4 <main>;rounds;(long_){51}\.\.\.;spin
path 3.4 <main>;rounds;rescued;rescue in rescued;spin
path 3.4 <main>;rounds;ensured;raiser;ensure in raiser;spin
path 3.4 <main>;rounds;caught;block in caught;spin
path 3.4 block in fibers;spin
path 3.4 block in enumerated;spin
path 3.4 block in threads;spin
path 3.4 <main>;rounds;defaults;spin
path - <main>;rounds(;(?!spin)[^;]+)*
path - block in (fibers|enumerated|threads)
=end
require_relative 'rounds'

def blocks
  [1, 2].each { spin(5) }
end

def nested
  1.times { [1].map { spin(10) } }
end

def yielder
  yield
end

def yields
  yielder { spin(10) }
end

def lambdas
  ->(n) { spin(n) }.call(10)
end

def for_all
  for n in 1..2
    spin(5)
  end
end

module Shared
  def from_module
    spin(10)
  end
end

class Base
  def inherited
    spin(10)
  end
end

class Kinds < Base
  include Shared

  def method_
    spin(10)
  end

  def self.of_class
    spin(10)
  end

  def method_missing(name)
    name == :nothing_like_it ? spin(10) : super
  end

  define_method(:defined) { spin(10) }

  def inherited
    super
  end

  def [](n)
    spin(n)
  end
end

def methods
  kinds = Kinds.new
  kinds.method_
  Kinds.of_class
  kinds.nothing_like_it
  kinds.defined
  kinds.from_module
  kinds.inherited
  kinds[10]
  $single.of_object
end

$single = Object.new
def $single.of_object
  spin(10)
end

class Made
  def initialize
    spin(10)
  end
end

def made
  Made.new
end

def opened
  Object.class_eval { remove_const(:Opened) } if defined?(Opened)
  eval 'class Opened; spin(10); end'
end

eval "def in_text\n  spin(10)\nend"

def executed
  in_text
end

def evaluated
  eval 'spin(10)'
end

def instance
  'a'.instance_eval { spin(10) }
end

def loaded
  load File.join(__dir__, 'loaded.rb')
end

def größe_名前
  spin(10)
end

def rescued
  raise 'no'
rescue RuntimeError
  spin(10)
end

def raiser
  raise 'no'
ensure
  spin(10)
end

def ensured
  raiser rescue nil
end

def caught
  catch(:done) { spin(10) && throw(:done) }
end

def fibers
  fiber = Fiber.new do
    spin(5)
    Fiber.yield
    spin(5)
  end
  fiber.resume
  fiber.resume
end

def enumerated
  Enumerator.new { |y| y << spin(10) }.next
end

def threads
  Thread.new { spin(10) }.join
end

def defaults(n = spin(10)) = n

eval "def #{'long_' * 60}() = spin(10)"
calls = %i[blocks nested yields lambdas for_all methods made opened executed evaluated instance loaded größe_名前 rescued ensured caught
           fibers enumerated threads defaults].map { |name| method(name) }
rounds(calls << method('long_' * 60) << -> { spin(10) }, ARGV[0].to_i)
