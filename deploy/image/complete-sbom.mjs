import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/**
 * Completes npm's bill of materials from stdin and writes it to stdout. Time and serial number are derived from the
 * content, so the same sources create the same file. The argument is the output of `tini --version` in the image: it
 * adds the programs that npm does not know. Without it, the bill contains only the packages.
 */
const bill = JSON.parse(readFileSync(0, 'utf8'))
const tini = process.argv[2] && /[0-9]+(?:\.[0-9]+)+/.exec(process.argv[2])[0]
if (tini) bill.components.push(program('node', process.versions.node), program('tini', tini))
bill.metadata.timestamp = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString()
delete bill.serialNumber
bill.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(bill))}`
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)

function program(name, version) {
  const purl = `pkg:generic/${name}@${version}`
  return { 'bom-ref': purl, type: 'application', name, version, purl, licenses: [{ license: { id: 'MIT' } }] }
}

/** Returns a version 8 UUID (RFC 9562) from a digest. */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex[16], 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}
