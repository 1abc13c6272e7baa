import { escapeRegex, patternOf } from '../patterns.js'
import type { Directive } from './parse.js'
import type { Scope } from './scope.js'

/** A location with its path in the document. */
export interface Location {
  readonly scope: Scope
  /** Directive, or null for the server itself. */
  readonly directive: Directive | null
  readonly kind: 'exact' | 'prefix' | 'regex'
  /** Path or pattern as in the source. */
  readonly text: string
  /** Path for `match.path`. */
  readonly path: string
  /** Conditions that the path does not express. */
  readonly when: readonly string[]
  /** True if `path` is selected correctly without the order of nginx. */
  readonly isNative: boolean
  /** True for the redirect that adds the slash at the end of a prefix. */
  readonly addsSlash?: boolean
}

interface Found {
  readonly directive: Directive
  readonly scope: Scope
  readonly kind: Location['kind']
  readonly isStrong: boolean
  readonly ignoresCase: boolean
  readonly text: string
  /** Prefix of the location around it. */
  readonly around: string | null
  readonly depth: number
}

/** Named locations, such as `@app`, by name. */
export type NamedLocations = ReadonlyMap<string, Scope>

/**
 * Returns the locations of a server in the order in which nginx chooses them:
 *
 *     = /exact  ─►  ^~ /prefix, longest first  ─►  ~ regex, as written  ─►  /prefix, longest first
 *
 * A `^~` prefix excludes longer prefixes without `^~` by a condition.
 * @param proxies returns true if a location forwards requests; nginx then adds a missing slash at the end
 */
export function orderedLocations(server: Scope, proxies: (scope: Scope) => boolean): Location[] {
  const found = locationsIn(server, null, 0)
  const byLength = (a: Found, b: Found): number => b.text.length - a.text.length
  const prefixes = found.filter(({ kind }) => kind === 'prefix').sort(byLength)
  const plain = prefixes.filter(({ isStrong }) => !isStrong)
  const strong = prefixes.filter(({ isStrong }) => isStrong)
  const regexes = found.filter(({ kind }) => kind === 'regex').sort((a, b) => b.depth - a.depth)
  const exact = found.filter(({ kind }) => kind === 'exact')
  const taken = new Set([...exact, ...prefixes].map(({ text }) => text))
  return [
    ...exact.map((one) => exactLocation(one, one.text)),
    ...prefixes
      .filter(
        ({ text, scope }) =>
          text.length > 1 && text.endsWith('/') && !taken.has(text.slice(0, -1)) && proxies(scope),
      )
      .map((one) => ({ ...exactLocation(one, one.text.slice(0, -1)), addsSlash: true })),
    ...strong.map((one) => {
      const longer = plain.filter(({ text }) => text.startsWith(one.text) && text !== one.text)
      const when = longer.map(({ text }) => `!req.path.startsWith(${JSON.stringify(text)})`)
      return {
        ...prefixLocation(one, proxies),
        when,
        isNative: regexes.length === 0 && prefixLocation(one, proxies).isNative && when.length === 0,
      }
    }),
    ...regexes.flatMap(regexLocation),
    ...plain.map((one) => prefixLocation(one, proxies)),
  ]
}

function exactLocation({ scope, directive, kind }: Found, text: string): Location {
  return {
    scope,
    directive,
    kind: kind === 'exact' ? 'exact' : 'prefix',
    text,
    path: literalPath(text),
    when: [],
    isNative: true,
  }
}

/** nginx compares prefixes as text: `/api` matches `/apis`. Only a slash at the end makes it a prefix of segments. */
function prefixLocation({ scope, directive, text }: Found, proxies: (scope: Scope) => boolean): Location {
  const isNative = text === '/' || (text.endsWith('/') && proxies(scope))
  const path = isNative ? `${literalPath(text)}*` : `~^${escapeRegex(text)}`
  return { scope, directive, kind: 'prefix', text, path, when: [], isNative }
}

function regexLocation({ scope, directive, text, ignoresCase, around }: Found): Location[] {
  const pattern = patternOf(text, ignoresCase)
  if (pattern === null) {
    scope.use.leaveUnprotected(
      directive,
      'RE2 does not support the pattern, so requests that match it use another location',
      'write a pattern without look-around and back references',
    )
    return []
  }
  const when = around === null ? [] : [`req.path.startsWith(${JSON.stringify(around)})`]
  return [{ scope, directive, kind: 'regex', text, path: `~${pattern}`, when, isNative: false }]
}

/** Escapes characters that have a meaning in path patterns. */
function literalPath(text: string): string {
  return encodeURI(text)
    .replaceAll(/[?#*;{}]/g, encodeURIComponent)
    .replaceAll('*', '%2A')
}

function locationsIn(scope: Scope, around: string | null, depth: number): Found[] {
  return scope.own('location').flatMap((directive): Found[] => {
    const [first = '', second] = directive.args
    const [, sign = '', glued = ''] = /^(=|\^~|~\*|~)?(.*)$/s.exec(first) ?? []
    const text = second ?? glued
    const inner = scope.inner(directive.block ?? [])
    if (text.startsWith('@')) return []
    const kind = sign === '=' ? 'exact' : sign.startsWith('~') ? 'regex' : 'prefix'
    const one: Found = {
      directive,
      scope: inner,
      kind,
      isStrong: sign === '^~',
      ignoresCase: sign === '~*',
      text,
      around,
      depth,
    }
    return [one, ...locationsIn(inner, kind === 'regex' ? around : text, depth + 1)]
  })
}

/** Returns the named locations of a server. */
export function namedLocations(server: Scope): NamedLocations {
  const named = server.own('location').filter(({ args: [name = ''] }) => name.startsWith('@'))
  return new Map(named.map((one) => [one.args[0]!, server.inner(one.block ?? [])]))
}
