'use strict';
/* Each kind of function that JavaScript has. What is inlined has no frame; what stands in () may be.

path 4 processImmediate;main;rounds;plain;spin
path 4 processImmediate;main;rounds;arrow;spin
path 4 processImmediate;main;rounds;\(anonymous\);spin
path 4 processImmediate;main;rounds;nested;(inner;)?spin
path 4 processImmediate;main;rounds;closed;(closure;)?spin
path 4 processImmediate;main;rounds;methods;(method;)?spin
path 4 processImmediate;main;rounds;of_class;spin
path 4 processImmediate;main;rounds;hidden;(hidden;)?(#secret;)?spin
path 4 processImmediate;main;rounds;got;(get value;)?spin
path 4 processImmediate;main;rounds;set;(set value;)?spin
path 4 processImmediate;main;rounds;made;(Made;)?(Base;)?spin
path 4 processImmediate;main;rounds;generated;(numbers;)?spin
path 4 processImmediate;main;rounds;destructured;(\(anonymous\);)?spin
path 4 processImmediate;main;rounds;executed;(\(anonymous\);)?(in_text;)?spin
path 4 processImmediate;main;rounds;\(anonymous\);(\(anonymous\);)?spin
path 4 processImmediate;main;rounds;größe_名前;spin
path 4 processImmediate;main;rounds;(long_){50}long\.\.\.;spin
path 4 processImmediate;main;rounds;thrown;((thrower|caught);)?spin
path 4 processImmediate;main;rounds;applied;(plain;)?spin
path 4 processImmediate;main;rounds;proxied;(get;)?spin
path 4 processImmediate;main;rounds;tagged;(tag;)?spin
path 4 processImmediate;main;rounds;(\(anonymous\);)?recursive(;recursive){0,5};spin
path 4 processImmediate;main;rounds;own\.assigned;spin
path 4 processImmediate;main;rounds;computed;spin
path 4 processImmediate;main;rounds;static_block;(<static_initializer>;)?spin
path - processImmediate;main;rounds;((?!spin)[^;]+;?)+
path - processImmediate;main;rounds
*/
const {spin, rounds} = require('./rounds.js');
const own = {};

function plain() { spin(10); }
const arrow = () => spin(10);
function nested() { function inner() { spin(10); } inner(); }
function closed() { const cost = 10; const closure = () => spin(cost); closure(); }
class Base {
  #secret() { spin(10); }
  constructor() { spin(5); }
  method() { spin(10); }
  static of_class() { spin(10); }
  hidden() { this.#secret(); }
  get value() { spin(10); return 1; }
  set value(n) { spin(10); }
}
class Made extends Base {
  constructor() { super(); spin(5); }
}
const object = Object.create(Base.prototype);
function methods() { object.method(); }
const real = new Made();
function hidden() { real.hidden(); }
function got() { return object.value; }
function set() { object.value = 1; }
function made() { return new Made(); }
function* numbers() { for (let n = 0; n < 2; n++) { spin(5); yield n; } }
function generated() { for (const n of numbers()) own.n = n; }
function destructured() {
  const [a] = {[Symbol.iterator]() { spin(10); return [1][Symbol.iterator](); }};
  return a;
}
const text = 'function in_text() { spin(10); } in_text();';
function executed() { eval(text); }
const anonymous = new Function('spin', 'spin(10)');
function größe_名前() { spin(10); }
function thrower() { spin(5); throw new Error('no'); }
function caught() { spin(5); }
function thrown() { try { thrower(); } catch { caught(); } }
function applied() { Reflect.apply(plain.bind(null), null, []); }
const proxy = new Proxy({}, {get() { spin(10); return 1; }});
function proxied() { return proxy.any; }
function tag(parts) { spin(10); return parts; }
function tagged() { return tag`a${1}b`; }
function recursive(depth = 5) { return depth ? recursive(depth - 1) : spin(10); }
own.assigned = function () { spin(10); };
const name = 'computed_name';
const computed = {[name]() { spin(10); }}[name];
function static_block() { return class { static { spin(10); } }; }
const long = new Function('spin', `return function ${'long_'.repeat(60)}() { spin(10); }`)(spin);

setImmediate(function main() {
  rounds([plain, arrow, (() => () => spin(10))(), nested, closed, methods, Base.of_class, hidden, got, set, made, generated, destructured, executed,
    () => anonymous(spin), größe_名前, long, thrown, applied, proxied, tagged, () => recursive(), own.assigned, computed, static_block], +process.argv[2]);
});
