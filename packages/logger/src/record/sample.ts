/**
 * 32-bit FNV-1a with the finalizer of MurmurHash3, so that texts that differ in the last digit get distant
 * hashes.
 */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Returns true if a request is in the sample. @param share Fraction of all requests, from 0 to 1. The result
 * depends only on the request ID. Gateways that a request passes thus make the same choice, and a smaller
 * sample is part of a larger one.
 */
export function isInSample(id: string, share: number | null): boolean {
  return share !== null && hashOf(id) < share * 0x1_0000_0000
}
