import type { BodyBeginning } from '@sluice/core'
import { isTextual } from './media-type.js'
import type { SensitiveNames } from './sensitive-names.js'

/** RFC 2046 section 5.1.1. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i
const FIELD_NAME = /;\s*name=(?:"([^"]*)"|([^\s";]+))/i

/**
 * A multipart form without the content of its files and secrets, of which only the field lines are told. Null when it is no form, or
 * not one that can be read with certainty: then nothing of it is told.
 */
export function withoutFiles(body: BodyBeginning, sensitive: SensitiveNames): string | null {
  const { contentType, beginning: bytes } = body
  const match = BOUNDARY.exec(contentType)
  if (match === null || !/^\s*multipart\/form-data\s*;/i.test(contentType)) return null
  const boundary = '--' + (match[1] ?? match[2]!)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  if (!text.startsWith(boundary)) return null
  const out = text
    .slice(boundary.length)
    .split('\r\n' + boundary)
    .map((part) => partWithoutFile(part, sensitive))
  return Buffer.from(boundary + out.join('\r\n' + boundary), 'latin1').toString('utf8')
}

/** A part begins behind its boundary with a line end; the end of the form with two hyphens. */
function partWithoutFile(part: string, sensitive: SensitiveNames): string {
  if (part.startsWith('--')) return '--\r\n'
  const end = part.indexOf('\r\n\r\n')
  // Its fields were cut: what they say is not known.
  if (!part.startsWith('\r\n') || end === -1) return '\r\n'
  const head = part.slice(0, end + 4)
  return isPlainField(head, sensitive) ? part : head
}

/** A field without a file name whose name is none of a secret and whose type, if it says one, is text. */
function isPlainField(head: string, sensitive: SensitiveNames): boolean {
  const lines = head.split('\r\n')
  const disposition = lines.filter((line) => /^content-disposition:/i.test(line))
  const types = lines.filter((line) => /^content-type:/i.test(line))
  if (disposition.length !== 1 || types.length > 1 || lines.some((line) => /^[ \t]/.test(line))) return false
  const name = FIELD_NAME.exec(disposition[0]!)
  if (name === null || /filename/i.test(disposition[0]!)) return false
  if (sensitive.has(name[1] ?? name[2]!)) return false
  return types.length === 0 || isTextual(types[0]!.slice('content-type:'.length))
}
