'use strict';
/* Work that takes time by its argument, and nothing else. It is too long to be inlined. */
function spin(n) {
  let x = 0;
  for (let i = 0; i < 100 * n; i++) {
    x += i % 7; x ^= i * 3; x += i % 11; x ^= i * 5; x += i % 13; x ^= i * 7; x += i % 17; x ^= i * 9;
    x += i % 19; x ^= i * 11; x += i % 23; x ^= i * 13; x += i % 29; x ^= i * 15; x += i % 31; x ^= i * 17;
    x += i % 37; x ^= i * 19; x += i % 41; x ^= i * 21; x += i % 43; x ^= i * 23; x += i % 47; x ^= i * 25;
    x += i % 53; x ^= i * 27; x += i % 59; x ^= i * 29; x += i % 61; x ^= i * 31; x += i % 67; x ^= i * 33;
    x += i % 71; x ^= i * 35; x += i % 73; x ^= i * 37; x += i % 79; x ^= i * 39; x += i % 83; x ^= i * 41;
    x += i % 89; x ^= i * 43; x += i % 97; x ^= i * 45; x += i % 101; x ^= i * 47; x += i % 103; x ^= i * 49;
    x |= 0;
  }
  return x;
}

/* Calls all of them so often, each time in another order. */
function rounds(calls, count) {
  for (; count; count--) {
    for (let i = calls.length - 1; i > 0; i--) {
      const j = Math.floor(Math.random() * (i + 1));
      [calls[i], calls[j]] = [calls[j], calls[i]];
    }
    for (const call of calls) call();
  }
}

module.exports = {spin, rounds};
