import { MAX_LENGTH } from '@sluice/core/yaml'

/** The text of a document, split at the start of each route. */
export interface RouteParts {
  /** Text before the first route. */
  readonly head: string
  readonly routes: readonly string[]
  /** Text after the routes, from the next key on; may be empty. */
  readonly tail: string
}

/** Matches an anchor or alias, which makes parts of the text depend on each other. */
const ANCHOR = /[\s[{,:][&*](?![&*\s])/
const KEY = /^routes:[ \t]*\r?\n/m
const FIRST_ROUTE = /^( *-)[ \t\r\n]/
const NO_CONTENT = /^ *(?:#|\r?\n)/

/**
 * Splits the text of a document into its routes. The content of a list item is indented further than its
 * dash. So a dash in the column of the first one starts a route, or the text is invalid.
 * @returns null if the text is too long, has anchors, or does not list each route on lines of its own
 */
export function splitRoutes(text: string): RouteParts | null {
  const key = KEY.exec(text)
  if (key === null || text.length > MAX_LENGTH || ANCHOR.test(text)) return null
  const starts: number[] = []
  let dash = ''
  let end = text.length
  for (let line = key.index + key[0].length; line < text.length; line = lineAfter(text, line)) {
    if (dash === '') {
      const first = text.slice(line, lineAfter(text, line))
      if (NO_CONTENT.test(first)) continue
      dash = FIRST_ROUTE.exec(first)?.[1] ?? ''
      if (dash === '') return null
    }
    if (beginsRoute(text, line, dash)) starts.push(line)
    else if (!' \r\n#-'.includes(text[line]!)) {
      end = line
      break
    }
  }
  if (starts.length === 0) return null
  const routes = starts.map((start, i) => text.slice(start, starts[i + 1] ?? end))
  return { head: text.slice(0, starts[0]), routes, tail: text.slice(end) }
}

/** Counts the line ends in texts. */
export function countLines(texts: readonly string[]): number {
  let count = 0
  for (const text of texts) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  }
  return count
}

function beginsRoute(text: string, line: number, dash: string): boolean {
  return text.startsWith(dash, line) && ' \t\r\n'.includes(text[line + dash.length] ?? '\n')
}

function lineAfter(text: string, line: number): number {
  const end = text.indexOf('\n', line)
  return end === -1 ? text.length : end + 1
}
