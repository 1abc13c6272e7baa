import type { BodyBeginning } from '@sluice/core'
import type { BodyText } from './body-text.js'
import { isTextual } from './media-type.js'

/** RFC 2046 section 5.1.1. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i
const FILE_NAME = /filename/i
const FIELD_NAME = /;\s*name=(?:"([^"]*)"|([^\s";]+))/i

/** Whether what a field of this name holds is recorded. */
type RecordsValue = (name: string) => boolean

interface RecordedPart {
  readonly text: string
  readonly hidesValue: boolean
}

/**
 * A multipart form without the content of its files and of fields that are not recorded, of which there are only the field
 * lines. Null when it is no form, or not one that can be read with certainty: then nothing of it is recorded.
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

/** A part begins after its boundary with a line end; the end of the form with two hyphens. */
function recordedPart(part: string, recordsValue: RecordsValue): RecordedPart {
  if (part.startsWith('--')) return { text: '--\r\n', hidesValue: false }
  const end = part.indexOf('\r\n\r\n')
  // Its fields were cut: what they say is not known.
  if (!part.startsWith('\r\n') || end === -1) return { text: '\r\n', hidesValue: true }
  const head = part.slice(0, end + 4)
  const name = plainFieldName(head)
  if (name !== null && recordsValue(name)) return { text: part, hidesValue: false }
  return { text: head, hidesValue: !FILE_NAME.test(head) }
}

/** The name of a field without a file name whose type, if it says one, is text; null of any other. */
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
