/** A challenge of `www-authenticate` (RFC 9110 section 11.3). Parameter names are in lower case. */
export interface Challenge {
  /** Authentication scheme in lower case. */
  readonly scheme: string
  readonly parameters: ReadonlyMap<string, string>
}

/** Maximum length of a header line. Longer lines are ignored. */
const MAX_LENGTH = 8192
const SCHEME = /([!#$%&'*+.^_`|~\w-]+)(?: +|(?=,|$))/y
const PARAMETER = /([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/y
/** Matches a `token68`, which Basic and Negotiate may have instead of parameters. */
const TOKEN68 = /[\w.~+/-]+=*(?=\s*(?:,|$))/y
const SEPARATOR = /[\s,]*/y

/** Parses the challenges of a response. Parsing of a line stops at the first syntax error. */
export function challengesIn(fields: readonly string[]): Challenge[] {
  const challenges: Challenge[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const line = fields[i + 1]!
    if (fields[i] === 'www-authenticate' && line.length <= MAX_LENGTH) challenges.push(...challengesOf(line))
  }
  return challenges
}

function challengesOf(line: string): Challenge[] {
  const challenges: Challenge[] = []
  let at = endOf(SEPARATOR, line, 0)
  while (at < line.length) {
    SCHEME.lastIndex = at
    const scheme = SCHEME.exec(line)
    if (scheme === null) break
    const parameters = new Map<string, string>()
    at = readParameters(line, SCHEME.lastIndex, parameters)
    challenges.push({ scheme: scheme[1]!.toLowerCase(), parameters })
  }
  return challenges
}

/** Reads parameters up to the next scheme. The first of two parameters with the same name counts. */
function readParameters(line: string, from: number, parameters: Map<string, string>): number {
  let at = from
  for (;;) {
    PARAMETER.lastIndex = at
    const match = PARAMETER.exec(line)
    if (match === null) return at === from ? endOf(SEPARATOR, line, endOf(TOKEN68, line, at)) : at
    const [, name = '', quoted, token = ''] = match
    const value = quoted === undefined ? token : quoted.replaceAll(/\\(.)/g, '$1')
    if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value)
    at = endOf(SEPARATOR, line, PARAMETER.lastIndex)
  }
}

function endOf(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(line) ? pattern.lastIndex : at
}
