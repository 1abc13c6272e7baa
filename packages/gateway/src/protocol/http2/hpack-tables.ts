/** Static table (RFC 7541 appendix A): names and values in turn. Entry 1 is the first pair. */
export const STATIC_TABLE: readonly string[] = (
  ':authority||:method|GET|:method|POST|:path|/|:path|/index.html|:scheme|http|:scheme|https|:status|200|' +
  ':status|204|:status|206|:status|304|:status|400|:status|404|:status|500|accept-charset||' +
  'accept-encoding|gzip, deflate|accept-language||accept-ranges||accept||access-control-allow-origin||age||' +
  'allow||authorization||cache-control||content-disposition||content-encoding||content-language||' +
  'content-length||content-location||content-range||content-type||cookie||date||etag||expect||expires||from||' +
  'host||if-match||if-modified-since||if-none-match||if-range||if-unmodified-since||last-modified||link||' +
  'location||max-forwards||proxy-authenticate||proxy-authorization||range||referer||refresh||retry-after||' +
  'server||set-cookie||strict-transport-security||transfer-encoding||user-agent||vary||via||www-authenticate|'
).split('|')

/** Number of entries in the static table. */
export const STATIC_ENTRIES = STATIC_TABLE.length / 2

/** Lengths of the Huffman codes in bits, by symbol; the last one is the end of the string (RFC 7541 appendix B). */
const CODE_LENGTHS = (
  '13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28 ' +
  '6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10 ' +
  '13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6 ' +
  '15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28 ' +
  '20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24 ' +
  '22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23 ' +
  '26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27 ' +
  '20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26 30'
)
  .split(' ')
  .map(Number)
const END_OF_STRING = 256
const MAX_CODE_BITS = 30

/** Binary tree: two entries per node. A positive entry is the next node, a negative one the complement of a symbol. */
const TREE = buildTree()

/** The code is canonical: codes of one length are consecutive, in the order of their symbols. */
function buildTree(): Int16Array {
  const tree = new Int16Array(2 * CODE_LENGTHS.length)
  let nodes = 1
  let code = 0
  for (let bits = 1; bits <= MAX_CODE_BITS; bits++, code *= 2) {
    CODE_LENGTHS.forEach((length, symbol) => {
      if (length !== bits) return
      let node = 0
      for (let bit = bits - 1; bit > 0; bit--) {
        const edge = 2 * node + ((code >> bit) & 1)
        if (tree[edge] === 0) tree[edge] = nodes++
        node = tree[edge]!
      }
      tree[2 * node + (code & 1)] = ~symbol
      code++
    })
  }
  return tree
}

/** Shortest code in bits. */
const MIN_CODE_BITS = 5
/** Maximum size of an encoded string in bytes. */
export const MAX_STRING_BYTES = 64 * 1024
const scratch = Buffer.allocUnsafeSlow(Math.ceil((MAX_STRING_BYTES * 8) / MIN_CODE_BITS))

/** Decodes a Huffman-coded string of at most `MAX_STRING_BYTES`. Returns null if it is invalid. */
export function decodeHuffman(bytes: Buffer, from: number, to: number): string | null {
  let size = 0
  let node = 0
  // Bits after the last symbol: fewer than eight, all ones (RFC 7541 section 5.2).
  let padding = 0
  let isOnes = true
  for (let at = from; at < to; at++) {
    for (let bit = 7; bit >= 0; bit--) {
      const isSet = (bytes[at]! >> bit) & 1
      node = TREE[2 * node + isSet]!
      padding++
      if (isSet === 0) isOnes = false
      if (node >= 0) continue
      if (~node === END_OF_STRING) return null
      scratch[size++] = ~node
      node = 0
      padding = 0
      isOnes = true
    }
  }
  return padding < 8 && isOnes ? scratch.toString('latin1', 0, size) : null
}
