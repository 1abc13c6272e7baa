/**
 * Computes HalfSipHash-1-3 of a text with one byte per character, 32 bits (J.-P. Aumasson, D. J. Bernstein,
 * "SipHash"; rounds as in Linux hsiphash). Without the secret, attackers cannot construct keys that share a hash
 * chain.
 */
export function keyHash(text: string, secret0: number, secret1: number): number {
  let v0 = secret0 | 0
  let v1 = secret1 | 0
  let v2 = secret0 ^ 0x6c796765
  let v3 = secret1 ^ 0x74656462
  const length = text.length
  const whole = length & ~3
  let i = 0
  for (let round = 0; round < 4; ) {
    let word = 0
    if (i < whole) {
      word =
        text.charCodeAt(i) |
        (text.charCodeAt(i + 1) << 8) |
        (text.charCodeAt(i + 2) << 16) |
        (text.charCodeAt(i + 3) << 24)
    } else if (round === 0) {
      word = length << 24
      for (let left = length & 3; left > 0; left--)
        word |= text.charCodeAt(whole + left - 1) << ((left - 1) * 8)
    } else if (round === 1) v2 ^= 0xff
    if (i < whole || round === 0) v3 ^= word
    // One SipHash round.
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    if (i < whole || round === 0) v0 ^= word
    if (i < whole) i += 4
    else round++
  }
  return (v1 ^ v3) >>> 0
}
