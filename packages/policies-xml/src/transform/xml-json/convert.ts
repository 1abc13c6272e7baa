import { UnreadableBody } from '@sluice/core'
import { jsonOfBytes } from '@sluice/policies/shared/json/view'
import { failed, type Transformed, unreadable } from '@sluice/policies/shared/transformation/transformed'
import { parseXml } from '../../engines/xml/gate.js'
import { unreadableXml } from '../../engines/xml/unreadable-xml.js'
import { jsonText } from './json-tree.js'
import type { Mapping } from './mapping.js'
import { NotXml, xmlText } from './xml-text.js'

/** Converts a body. The XML library must be loaded. */
export function convert(body: Uint8Array, mapping: Mapping): Transformed {
  try {
    const output = mapping.direction === 'to-json' ? toJson(body, mapping) : toXml(body, mapping)
    return output.length > mapping.maxOutputBytes ? tooLarge() : output
  } catch (problem) {
    if (problem instanceof UnreadableBody) return unreadable(problem.message)
    if (problem instanceof NotXml) return { kind: 'refused', detail: `the body ${problem.message}` }
    if (problem instanceof RangeError) return tooLarge()
    throw problem
  }
}

function tooLarge(): Transformed {
  return failed('the result is larger than the limit')
}

function toJson(body: Uint8Array, mapping: Mapping): Uint8Array {
  const view = parseXml(body)
  try {
    if (view.shape.depth > mapping.maxDepth)
      throw unreadableXml(`has elements nested deeper than ${mapping.maxDepth}`)
    return Buffer.from(jsonText(view.document, mapping))
  } finally {
    view.close()
  }
}

function toXml(body: Uint8Array, mapping: Mapping): Uint8Array {
  const { value } = jsonOfBytes(body, { maxDepth: mapping.maxDepth, duplicateKeys: 'refuse' })
  const text = xmlText(value, mapping)
  const bytes = Buffer.from(text)
  // Finds invalid combinations of prefixes and attributes, and names that XML does not allow.
  if (text.includes(':') || bytes.length !== text.length) validate(bytes)
  return bytes
}

function validate(bytes: Uint8Array): void {
  try {
    parseXml(bytes).close()
  } catch (problem) {
    if (problem instanceof UnreadableBody)
      throw new NotXml('does not become well-formed XML with its names and prefixes')
    throw problem
  }
}
