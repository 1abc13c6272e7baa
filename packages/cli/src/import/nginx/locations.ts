import { escapeRegex, patternOf, widenedPattern } from '../patterns.js'
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
  /** Text of the directive if RE2 does not support its pattern. `path` then matches more, and must be closed. */
  readonly missing?: string
}

interface Found {
  readonly directive: Directive
  readonly scope: Scope
  readonly kind: Location['kind']
  readonly isStrong: boolean
  readonly ignoresCase: boolean
  readonly text: string
  /** Conditions under which nginx looks into the locations around it. */
  readonly when: readonly string[]
  /** Number of prefixes around it. */
  readonly depth: number
}

interface Around {
  readonly when: readonly string[]
  readonly depth: number
}

/** Named locations, such as `@app`, by name. */
export type NamedLocations = ReadonlyMap<string, Scope>

/**
 * Returns the locations of a server in the order in which nginx chooses them:
 *
 *     = /exact  ─►  ~ regex in a prefix  ─►  ^~ /prefix  ─►  ~ regex, as written  ─►  /prefix
 *
 * Prefixes are in the order of their length. A `^~` prefix excludes longer prefixes without `^~` by a condition.
 * @param proxies returns true if a location forwards requests; nginx then adds a missing slash at the end
 */
export function orderedLocations(server: Scope, proxies: (scope: Scope) => boolean): Location[] {
  const found = locationsIn(server, { when: [], depth: 0 })
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
    ...regexes.filter(({ depth }) => depth > 0).map(regexLocation),
    ...strong.map((one) => {
      const longer = plain.filter(({ text }) => text.startsWith(one.text) && text !== one.text)
      const when = longer.map(({ text }) => `!${startsWith(text)}`)
      return {
        ...prefixLocation(one, proxies),
        when,
        isNative: regexes.length === 0 && prefixLocation(one, proxies).isNative && when.length === 0,
      }
    }),
    ...regexes.filter(({ depth }) => depth === 0).map(regexLocation),
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

function regexLocation({ scope, directive, text, ignoresCase, when }: Found): Location {
  const pattern = patternOf(text, ignoresCase)
  const location = { scope, directive, kind: 'regex', text, when, isNative: false } as const
  if (pattern !== null) return { ...location, path: `~${pattern}` }
  const missing = scope.use.leaveUnprotected(
    directive,
    'RE2 does not support the pattern, and a route with a wider one stands for it',
    'write a pattern without look-around and back references',
  )
  return { ...location, path: `~${widenedPattern(text, ignoresCase)}`, missing }
}

function startsWith(text: string): string {
  return `req.path.startsWith(${JSON.stringify(text)})`
}

/** Escapes characters that have a meaning in path patterns. */
function literalPath(text: string): string {
  return encodeURI(text)
    .replaceAll(/[?#*;{}]/g, encodeURIComponent)
    .replaceAll('*', '%2A')
}

/** Returns the locations of a block. Those in a pattern precede it. */
function locationsIn(scope: Scope, { when, depth }: Around): Found[] {
  const level = scope.own('location').flatMap((directive): Found[] => {
    const [first = '', second] = directive.args
    const [, sign = '', glued = ''] = /^(=|\^~|~\*|~)?(.*)$/s.exec(first) ?? []
    const text = second ?? glued
    if (text.startsWith('@')) return []
    const kind = sign === '=' ? 'exact' : sign.startsWith('~') ? 'regex' : 'prefix'
    const inner = scope.inner(directive.block ?? [])
    const [isStrong, ignoresCase] = [sign === '^~', sign === '~*']
    return [{ directive, scope: inner, kind, isStrong, ignoresCase, text, when, depth }]
  })
  const prefixes = level.filter(({ kind }) => kind === 'prefix')
  const texts = [...new Set(prefixes.map(({ text }) => text))]
  const longerThan = (text: string): string[] => texts.filter((one) => one !== text && one.startsWith(text))
  const onlyIn = (text: string): string[] => [
    startsWith(text),
    ...longerThan(text).map((one) => `!${startsWith(one)}`),
  ]
  const strong = prefixes
    .filter(({ isStrong }) => isStrong)
    .map(({ text }) => `!(${onlyIn(text).join(' && ')})`)
  return level.flatMap((one): Found[] => {
    const { kind, text, ignoresCase, scope: inner } = one
    if (kind === 'regex') {
      const pattern = patternOf(text, ignoresCase)
      // A pattern that RE2 does not support is closed as a whole.
      if (pattern === null) return [depth === 0 ? one : { ...one, when: [...when, ...strong] }]
      const test = `req.path.matches(${JSON.stringify(pattern)})`
      const self = depth === 0 ? one : { ...one, when: [...when, ...strong] }
      return [...locationsIn(inner, { when: [...self.when, test], depth }), self]
    }
    if (inner.own('location').length === 0) return [one]
    const longer = longerThan(text)
    const nested = locationsIn(inner, { when: [...when, ...onlyIn(text)], depth: depth + 1 })
    // nginx looks into the longest prefix only.
    return [
      one,
      ...nested.filter(
        (child) => child.kind === 'regex' || !longer.some((other) => child.text.startsWith(other)),
      ),
    ]
  })
}

/** Returns the named locations of a server. */
export function namedLocations(server: Scope): NamedLocations {
  const named = server.own('location').filter(({ args: [name = ''] }) => name.startsWith('@'))
  return new Map(named.map((one) => [one.args[0]!, server.inner(one.block ?? [])]))
}
