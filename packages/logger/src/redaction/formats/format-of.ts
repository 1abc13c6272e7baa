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
 * How to scan a body: by what it looks like, because a content type may be wrong or missing; two formats when the type
 * says a form and the text says something else, for nobody knows whom the upstream believes.
 */
export function scansOf(text: string, contentType: string): readonly Scan[] {
  const structure = structureOf(text)
  if (FORM_TYPE.test(contentType)) return structure === null ? [scanForm] : [structure, scanForm]
  if (structure !== null) return [structure]
  if (MULTIPART_TYPE.test(contentType) || PART.test(text)) return [scanMultipart]
  return FORM.test(text) ? [scanForm] : []
}

/** The scan for a text that has parts of its own wherever it stands, or null. */
export function structureOf(text: string): Scan | null {
  const first = /[^\s\ufeff]/.exec(text)?.[0]
  // A string that holds JSON is JSON as well, and only there its escapes are read.
  if (first === '{' || first === '[' || first === '"') return scanJson
  return first === '<' ? scanXml : null
}
