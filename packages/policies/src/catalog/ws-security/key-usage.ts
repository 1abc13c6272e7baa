import type { X509Certificate } from 'node:crypto'

/** OID 2.5.29.15, then perhaps "critical", then an OCTET STRING with the BIT STRING of the usages. */
const KEY_USAGE_OID = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x0f])
const CRITICAL = Buffer.from([0x01, 0x01, 0xff])
const OCTET_STRING = 0x04
const BIT_STRING = 0x03
/** digitalSignature and nonRepudiation (RFC 5280 section 4.2.1.3). */
const SIGNING = 0xc0

/**
 * Whether the authority lets the key sign messages; a certificate that does not say what its key is for may do all.
 * Node.js does not report the usage. Where its OID stands more than once, in a name perhaps, each has to allow it.
 */
export function maySign({ raw }: X509Certificate): boolean {
  for (let at = raw.indexOf(KEY_USAGE_OID); at !== -1; at = raw.indexOf(KEY_USAGE_OID, at + 1)) {
    let value = at + KEY_USAGE_OID.length
    if (raw.subarray(value, value + CRITICAL.length).equals(CRITICAL)) value += CRITICAL.length
    const isBits = raw[value] === OCTET_STRING && raw[value + 2] === BIT_STRING
    if (!isBits || (raw[value + 5]! & SIGNING) === 0) return false
  }
  return true
}
