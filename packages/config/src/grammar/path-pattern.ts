import { canonicalPath, decodeReserved, forwardablePath, withoutParameters } from '@sluice/core'
import type { Issue } from '../diagnostic/issue.js'
import type { PathPlan, PathSegment } from '../plan/plan.js'
import { examineRegex } from './regex.js'

/** Maximum number of path segments that the router matches. */
const MAX_SEGMENTS = 64
const PARAM = /^\{([A-Za-z_]\w*)\}$/
const PLACEHOLDERS = /\{([A-Za-z_]\w*)\}/g

/** Pattern of a route without a path. */
export const ANY_PATH: PathPlan = { text: '', kind: 'any', segments: [] }

/**
 * Parses the path of a route: exact, `{name}` for one segment, a trailing `/*`, or `~` and a regular
 * expression.
 */
export function parsePathPattern(text: string): PathPlan | Issue {
  if (text.startsWith('~')) {
    const source = text.slice(1)
    return examineRegex(source) ?? { text, kind: 'regex', segments: [{ kind: 'literal', text: source }] }
  }
  const body = text.endsWith('/*') ? text.slice(0, -2) : text
  const parts = body === '' ? [] : body.slice(1).split('/')
  const issue =
    examineShape(text) ??
    examineParts(parts) ??
    examineCanonical(text, PLACEHOLDERS) ??
    examineParameters(text)
  if (issue !== null) return issue
  const segments = parts.map(segmentOf)
  const isTemplate = segments.some((segment) => segment.kind === 'param')
  return { text, kind: body !== text ? 'prefix' : isTemplate ? 'template' : 'exact', segments }
}

/** Parses a path without wildcards. */
export function parseLiteralPath(text: string): string | Issue {
  return examineShape(text) ?? examineCanonical(text, null) ?? text
}

/** Parses a path template, in which `{name}` may appear anywhere. */
export function parsePathTemplate(text: string): string | Issue {
  return examineShape(text) ?? examineCanonical(text, PLACEHOLDERS) ?? text
}

/** Returns the placeholder names in a path or template. */
export function placeholdersOf(template: string): readonly string[] {
  return [...template.matchAll(PLACEHOLDERS)].map((match) => match[1]!)
}

function segmentOf(part: string): PathSegment {
  const name = PARAM.exec(part)?.[1]
  // Requests are matched in canonical form, so "%24" and "$" are the same pattern.
  return name === undefined ? { kind: 'literal', text: decodeReserved(part) } : { kind: 'param', name }
}

function examineShape(text: string): Issue | null {
  if (!text.startsWith('/')) {
    return {
      message: `the path '${text}' does not start with '/'`,
      remedy: `write /${text}, or ~ followed by a regular expression`,
    }
  }
  const mark = /[?#]/.exec(text)
  if (mark === null) return null
  return {
    message: `the path '${text}' contains '${mark[0]}'`,
    remedy: 'use match.query to match the query string',
  }
}

function examineParts(parts: readonly string[]): Issue | null {
  if (parts.length > MAX_SEGMENTS) {
    return {
      message: `the path has more than ${MAX_SEGMENTS} segments`,
      remedy: 'shorten it and end it with /*',
    }
  }
  const names = new Set<string>()
  for (const part of parts) {
    if (part.includes('*')) {
      return {
        message: `the segment '${part}' contains '*'`,
        remedy: 'end the path with /*, or use {name} for one segment',
      }
    }
    const name = PARAM.exec(part)?.[1]
    if (name === undefined && /[{}]/.test(part)) {
      return {
        message: `the segment '${part}' is not a valid {name}`,
        remedy: 'use {name} as a whole segment; names consist of letters, digits and _',
      }
    }
    if (name !== undefined && names.has(name))
      return { message: `the path has {${name}} twice`, remedy: 'use different names' }
    if (name !== undefined) names.add(name)
  }
  return null
}

/** Rejects path parameters, which are removed from requests before matching. */
function examineParameters(text: string): Issue | null {
  if (withoutParameters(text) === text) return null
  return {
    message: `the path '${text}' contains ';', but path parameters are not matched`,
    remedy: `remove them: ${withoutParameters(text)}`,
  }
}

/** Rejects paths that are not in forwardable form. A placeholder counts as one plain letter. */
function examineCanonical(text: string, placeholders: RegExp | null): Issue | null {
  const plain = placeholders === null ? text : text.replaceAll(placeholders, 'x')
  const canonical = forwardablePath(plain)
  if (canonical === plain) return null
  if (canonical !== null) {
    const remedy =
      plain === text
        ? `write ${canonical}`
        : "remove '//', '.' and '..', and percent-encode only what must be encoded"
    return { message: `the path '${text}' is not in canonical form`, remedy }
  }
  return { message: `the path '${text}' is malformed`, remedy: escapeRemedy(plain === text ? text : null) }
}

function escapeRemedy(text: string | null): string {
  const escaped = text?.replace(/[^\u0021-\u007e]+|[{}"<>\\^`|]/g, (part) => encodeUtf8(part)) ?? null
  if (escaped === null || escaped === text || canonicalPath(escaped) === null)
    return 'write two hexadecimal digits after each %, and percent-encode other special characters'
  return `write ${escaped}`
}

/** Percent-encodes text. Unlike encodeURIComponent, it accepts unpaired surrogates. */
function encodeUtf8(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
