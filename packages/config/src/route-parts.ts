import { MAX_LENGTH } from './source/yaml-source.js'

/** The text of a document, cut where each of its routes begins. */
export interface RouteParts {
  /** The lines before the first route. */
  readonly head: string
  readonly routes: readonly string[]
  /** Lines from the key after the routes, or an empty string. */
  readonly tail: string
}

/** Matches an anchor or alias, which makes parts of the text depend on each other. */
const ANCHOR = /[\s[{,:][&*](?![&*\s])/
const KEY = /^routes:[ \t]*\r?\n/m
const FIRST_ROUTE = /^( *-)[ \t\r\n]/
const NO_CONTENT = /^ *(?:#|\r?\n)/

/**
 * Cuts the text of a document into its routes. Content of a list's item is indented further than its dash, so a dash at the
 * place of the first one begins a route, or the text is not valid.
 * @returns null if it is too long, is not written as a YAML list with one line at least for each route, or has anchors.
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
