import { scanForm } from './form.js'
import { scanJson } from './json.js'
import { scanMultipart } from './multipart.js'
import type { Scan } from './visitor.js'
import { scanXml } from './xml.js'

const FORM_TYPE = /^application\/x-www-form-urlencoded/i
const MULTIPART_TYPE = /^multipart\//i
const PART = /^\s*--[^\r\n]+\r?\n[\s\S]{0,1000}?content-disposition:/i
const FORM = /^[^\s=<>{}"]*=\S*$/

/**
 * Returns the scanners for a body. They are chosen by its content, because the content type may be wrong or
 * missing. If the type says form but the text looks different, both scanners are used, because upstreams
 * differ in which one they believe.
 */
export function scansOf(text: string, contentType: string): readonly Scan[] {
  const structure = structureOf(text)
  if (FORM_TYPE.test(contentType)) return [...(structure ?? []), scanForm]
  if (structure !== null) return structure
  if (MULTIPART_TYPE.test(contentType) || PART.test(text)) return [scanMultipart]
  return FORM.test(text) ? [scanForm] : []
}

/** Returns the scanner for a text with nested structure, or null. */
export function structureOf(text: string): readonly [Scan] | null {
  const first = /[^\s\ufeff]/.exec(text)?.[0]
  // A string may contain JSON. Its escapes are only decoded by the JSON scanner.
  if (first === '{' || first === '[' || first === '"') return [scanJson]
  return first === '<' ? [scanXml] : null
}
