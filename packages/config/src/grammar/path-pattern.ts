import { canonicalPath, decodeReserved, forwardablePath, withoutParameters } from '@sluice/core'
import type { Flaw } from '../flaw.js'
import type { PathPlan, PathSegment } from '../plan.js'
import { examineRegex } from './regex.js'

/** Deepest path that the router looks through. */
const MAX_SEGMENTS = 64
const PARAM = /^\{([A-Za-z_]\w*)\}$/
const PLACEHOLDERS = /\{([A-Za-z_]\w*)\}/g

/** The path of a route that names none. */
export const ANY_PATH: PathPlan = { text: '', kind: 'any', segments: [] }

/** Reads the path of a route: exact, `{name}` for one segment, a `/*` at the end, or `~` and a regular expression. */
export function parsePathPattern(text: string): PathPlan | Flaw {
  if (text.startsWith('~')) {
    const source = text.slice(1)
    return examineRegex(source) ?? { text, kind: 'regex', segments: [{ kind: 'literal', text: source }] }
  }
  const body = text.endsWith('/*') ? text.slice(0, -2) : text
  const parts = body === '' ? [] : body.slice(1).split('/')
  const flaw =
    examineShape(text) ??
    examineParts(parts) ??
    examineCanonical(text, PLACEHOLDERS) ??
    examineParameters(text)
  if (flaw !== null) return flaw
  const segments = parts.map(segmentOf)
  const isTemplate = segments.some((segment) => segment.kind === 'param')
  return { text, kind: body !== text ? 'prefix' : isTemplate ? 'template' : 'exact', segments }
}

/** Reads a path without wildcards. */
export function parseLiteralPath(text: string): string | Flaw {
  return examineShape(text) ?? examineCanonical(text, null) ?? text
}

/** Reads the template of a path, in which `{name}` may stand anywhere. */
export function parsePathTemplate(text: string): string | Flaw {
  return examineShape(text) ?? examineCanonical(text, PLACEHOLDERS) ?? text
}

/** The names in the braces of a path or of a template. */
export function positionsOf(template: string): readonly string[] {
  return [...template.matchAll(PLACEHOLDERS)].map((match) => match[1]!)
}

function segmentOf(part: string): PathSegment {
  const name = PARAM.exec(part)?.[1]
  // Requests are matched in their canonical form, so "%24" and "$" are one pattern.
  return name === undefined ? { kind: 'literal', text: decodeReserved(part) } : { kind: 'param', name }
}

function examineShape(text: string): Flaw | null {
  if (!text.startsWith('/')) {
    return {
      message: `the path '${text}' does not begin with '/'`,
      remedy: `write /${text}, or ~ and a regular expression`,
    }
  }
  const mark = /[?#]/.exec(text)
  if (mark === null) return null
  return { message: `the path '${text}' holds '${mark[0]}'`, remedy: 'match the query under match.query' }
}

function examineParts(parts: readonly string[]): Flaw | null {
  if (parts.length > MAX_SEGMENTS) {
    return { message: `the path has more than ${MAX_SEGMENTS} segments`, remedy: 'end it earlier with /*' }
  }
  const names = new Set<string>()
  for (const part of parts) {
    if (part.includes('*')) {
      return {
        message: `'*' stands in the segment '${part}'`,
        remedy: 'end the path with /*, or write {name} for one segment',
      }
    }
    const name = PARAM.exec(part)?.[1]
    if (name === undefined && /[{}]/.test(part)) {
      return {
        message: `the segment '${part}' is not one {name}`,
        remedy: 'a {name} is a whole segment of letters, digits and _',
      }
    }
    if (name !== undefined && names.has(name)) {
      return { message: `the path has {${name}} twice`, remedy: 'give each its own name' }
    }
    if (name !== undefined) names.add(name)
  }
  return null
}

/** Requests are matched without them. */
function examineParameters(text: string): Flaw | null {
  if (withoutParameters(text) === text) return null
  return {
    message: `the path '${text}' holds ';', after which the parameters of a segment stand; they are not matched`,
    remedy: `leave them out: ${withoutParameters(text)}`,
  }
}

/** A path that is not in its forwardable form is a mistake. A placeholder counts as one plain letter. */
function examineCanonical(text: string, placeholders: RegExp | null): Flaw | null {
  const plain = placeholders === null ? text : text.replaceAll(placeholders, 'x')
  const canonical = forwardablePath(plain)
  if (canonical === plain) return null
  if (canonical !== null) {
    const remedy =
      plain === text
        ? `write ${canonical}`
        : "leave out '//', '.' and '..', and escape only what must be escaped"
    return { message: `the path '${text}' is not in canonical form`, remedy }
  }
  return { message: `the path '${text}' is malformed`, remedy: escapeRemedy(plain === text ? text : null) }
}

function escapeRemedy(text: string | null): string {
  const escaped = text?.replace(/[^\u0021-\u007e]+|[{}"<>\\^`|]/g, (part) => encodeUtf8(part)) ?? null
  if (escaped === null || escaped === text || canonicalPath(escaped) === null) {
    return 'write two hexadecimal digits after each %, and escape other characters so'
  }
  return `write ${escaped}`
}

/** encodeURIComponent throws for half a surrogate pair. */
function encodeUtf8(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
