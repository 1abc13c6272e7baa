import type { BodyBeginning } from '@sluice/core'
import { isTextual } from './media-type.js'

/** Boundary parameter (RFC 2046 section 5.1.1). */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i
const FILE_NAME = /filename/i
const FIELD_NAME = /;\s*name=(?:"([^"]*)"|([^\s";]+))/i

/** A body as recorded text. */
export interface BodyText {
  readonly text: string
  /**
   * True if a value is omitted because of its name or because values are not recorded. A digest of the body
   * would allow guesses to be confirmed.
   */
  readonly hidesValues: boolean
}

/** Returns true if the value of a field with this name is recorded. */
type RecordsValue = (name: string) => boolean

interface RecordedPart {
  readonly text: string
  readonly hidesValue: boolean
}

/**
 * Returns a multipart form without the content of files and of fields that are not recorded; their header
 * lines remain. Returns null if the body is not a form or cannot be parsed reliably.
 */
export function withoutFiles(body: BodyBeginning, recordsValue: RecordsValue): BodyText | null {
  const { contentType, beginning: bytes } = body
  const match = BOUNDARY.exec(contentType)
  if (match === null || !/^\s*multipart\/form-data\s*;/i.test(contentType)) return null
  const boundary = '--' + (match[1] ?? match[2]!)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  if (!text.startsWith(boundary)) return null
  const parts = text
    .slice(boundary.length)
    .split('\r\n' + boundary)
    .map((part) => recordedPart(part, recordsValue))
  const recorded = boundary + parts.map((part) => part.text).join('\r\n' + boundary)
  return {
    text: Buffer.from(recorded, 'latin1').toString('utf8'),
    hidesValues: body.isTruncated || parts.some(({ hidesValue }) => hidesValue),
  }
}

/**
 * Formats one part. A part starts with a line end after its boundary, the end of the form with two hyphens.
 */
function recordedPart(part: string, recordsValue: RecordsValue): RecordedPart {
  if (part.startsWith('--')) return { text: '--\r\n', hidesValue: false }
  const end = part.indexOf('\r\n\r\n')
  // The header lines are truncated, so the part cannot be classified.
  if (!part.startsWith('\r\n') || end === -1) return { text: '\r\n', hidesValue: true }
  const head = part.slice(0, end + 4)
  const name = plainFieldName(head)
  if (name !== null && recordsValue(name)) return { text: part, hidesValue: false }
  return { text: head, hidesValue: !FILE_NAME.test(head) }
}

/**
 * Returns the field name of a part that is not a file and whose type is absent or textual. Otherwise returns
 * null.
 */
function plainFieldName(head: string): string | null {
  const lines = head.split('\r\n')
  const disposition = lines.filter((line) => /^content-disposition:/i.test(line))
  const types = lines.filter((line) => /^content-type:/i.test(line))
  if (disposition.length !== 1 || types.length > 1 || lines.some((line) => /^[ \t]/.test(line))) return null
  const name = FIELD_NAME.exec(disposition[0]!)
  if (name === null || FILE_NAME.test(disposition[0]!)) return null
  return types.length === 0 || isTextual(types[0]!.slice('content-type:'.length))
    ? (name[1] ?? name[2]!)
    : null
}
