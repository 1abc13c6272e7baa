/** FNV-1a of 32 bits, and the finalizer of MurmurHash3, because texts that differ in their last digit must be far apart. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * Whether a request is in the sample of a share of all, 0 to 1. It depends on the request id alone, so that all gateways
 * which a request passes with one id record the same of it, and a smaller sample is a part of a larger one.
 */
export function isInSample(id: string, share: number | null): boolean {
  return share !== null && hashOf(id) < share * 0x1_0000_0000
}
