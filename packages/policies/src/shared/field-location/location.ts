import { headerCount, headerValue, isFieldValue, removeHeader, UnreadableBody } from '@sluice/core'
import { fieldName } from '../message/field-name.js'
import type { Side } from '../message/side.js'
import { removeLookalikes } from '../message/spoofed-fields.js'
import type { Draft } from './draft.js'
import { DuplicateName, type JsonPath, valueAt, withoutValue, withValue } from './json-text.js'
import {
  ABSENT,
  parameterName,
  parameterStart,
  parameterValue,
  REPEATED,
  withoutParameter,
} from './query-parameter.js'

/** A location of a value in a message. */
export interface FieldLocation {
  /** Location as configured. */
  readonly text: string
  readonly isInBody: boolean
  /** True for the whole body, where bytes need no encoding. */
  readonly isWholeBody: boolean
  /** Returns the bytes, or null if there are none. @throws UnreadableBody if the value is ambiguous or unreadable. */
  read(draft: Draft): Uint8Array | null
  /** Writes a text or a JSON value. Returns false if the location cannot hold it. */
  write(draft: Draft, value: Uint8Array, isJson: boolean): boolean
  remove(draft: Draft): void
}

/** Forms of locations, for schemas and messages. */
export const LOCATION_FORMS =
  '`header.NAME`, `query.NAME`, `json.PATH` such as `json.card.number` or `json.items[0].iban`, `body`, `vars.NAME`'

/** Compiles a location. @throws Error for an invalid location on this side. */
export function compileLocation(text: string, side: Side): FieldLocation {
  if (text === 'body') return wholeBody
  if (text.startsWith('json[')) return jsonLocation(text, parsePath(text.slice('json'.length)))
  const dot = text.indexOf('.')
  const kind = text.slice(0, dot)
  const name = text.slice(dot + 1)
  if (name !== '') {
    if (kind === 'header') return headerLocation(text, fieldName(side, name))
    if (kind === 'query' && side === 'request') return queryLocation(text, parameterName(name))
    if (kind === 'json') return jsonLocation(text, parsePath(name))
    if (kind === 'vars') return varLocation(text, name)
  }
  throw new Error(`'${text}' is not a valid location in a ${side}; use ${LOCATION_FORMS}`)
}

/** Returns the names of headers and query parameters among locations, which the traffic log can mask. */
export function namesOf(texts: readonly string[]): string[] {
  return texts.map((text) => /^(?:header|query)\.(.+)$/.exec(text)?.[1] ?? '').filter((name) => name !== '')
}

const wholeBody: FieldLocation = {
  text: 'body',
  isInBody: true,
  isWholeBody: true,
  read: (draft) => (draft.body.length === 0 ? null : draft.body),
  write(draft, value) {
    draft.body = value
    return true
  },
  remove(draft) {
    draft.body = new Uint8Array(0)
  },
}

function headerLocation(text: string, name: string): FieldLocation {
  return {
    text,
    isInBody: false,
    isWholeBody: false,
    read({ headers, side }) {
      const lines = headerCount(headers, name)
      if (lines > 1) throw new UnreadableBody('GW_BAD_REQUEST', `the ${side} has more than one '${name}'`)
      const value = headerValue(headers, name) ?? ''
      return value === '' ? null : Buffer.from(value, 'latin1')
    },
    write(draft, value) {
      const line = textOf(value)
      if (line === null || line === '' || !isFieldValue(line) || line.trim() !== line) return false
      draft.setField(name, line)
      if (draft.side === 'request') removeLookalikes(draft.headers, name)
      return true
    },
    remove({ headers, side }) {
      removeHeader(headers, name)
      if (side === 'request') removeLookalikes(headers, name)
    },
  }
}

function queryLocation(text: string, name: string): FieldLocation {
  return {
    text,
    isInBody: false,
    isWholeBody: false,
    read({ x }) {
      const start = parameterStart(x.query, name)
      if (start === ABSENT) return null
      const value = start === REPEATED ? null : parameterValue(x.query, start)
      if (value === null)
        throw new UnreadableBody(
          'GW_BAD_REQUEST',
          `the query parameter '${name}' is duplicate or cannot be decoded`,
        )
      return value === '' ? null : Buffer.from(value)
    },
    write(draft, value) {
      const written = textOf(value)
      if (written === null || parameterStart(draft.x.query, name) === REPEATED) return false
      this.remove(draft)
      const { x } = draft
      x.query += `${x.query === '' ? '' : '&'}${name}=${encodeURIComponent(written)}`
      return true
    },
    remove({ x }) {
      const start = parameterStart(x.query, name)
      if (start === REPEATED)
        throw new UnreadableBody('GW_BAD_REQUEST', `the query parameter '${name}' is duplicate`)
      if (start !== ABSENT) x.query = withoutParameter(x.query, start)
    },
  }
}

function jsonLocation(text: string, path: JsonPath): FieldLocation {
  return {
    text,
    isInBody: true,
    isWholeBody: false,
    read(draft) {
      const { json } = draft
      const span = unambiguous(draft, text, () => valueAt(json, path))
      if (span === null) return null
      const value = json.slice(span.start, span.end)
      if (value === 'null' || value === '""') return null
      return Buffer.from(value.startsWith('"') ? (JSON.parse(value) as string) : value)
    },
    write(draft, value, isJson) {
      const written = textOf(value)
      if (written === null || (isJson && !isJsonText(written))) return false
      const json = isJson ? written : JSON.stringify(written)
      const changed = unambiguous(draft, text, () => withValue(draft.json, path, json))
      if (changed === null) return false
      draft.json = changed
      return true
    },
    remove(draft) {
      if (typeof path.at(-1) !== 'string') return
      draft.json = unambiguous(draft, text, () => withoutValue(draft.json, path))
    },
  }
}

function varLocation(text: string, name: string): FieldLocation {
  return {
    text,
    isInBody: false,
    isWholeBody: false,
    read({ x }) {
      const value = x.vars?.get(name) ?? ''
      return value === '' ? null : Buffer.from(value)
    },
    write({ x }, value) {
      const written = textOf(value)
      if (written === null) return false
      x.setVar(name, written)
      return true
    },
    remove: ({ x }) => void x.vars?.delete(name),
  }
}

function unambiguous<T>({ side }: Draft, location: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    if (!(error instanceof DuplicateName)) throw error
    throw new UnreadableBody(
      'GW_BODY_UNPARSABLE',
      `the ${side} body has a duplicate name on the path '${location}'`,
    )
  }
}

const STEP = /^(?:\.([A-Za-z_$][\w$-]*)|\[(\d{1,6})\])/

function parsePath(text: string): JsonPath {
  const path: (string | number)[] = []
  for (let rest = text.startsWith('[') ? text : `.${text}`; rest !== ''; ) {
    const step = STEP.exec(rest)
    if (step === null)
      throw new Error(`'json.${text}' is not a valid path; use a path such as json.items[0].iban`)
    path.push(step[1] ?? Number(step[2]))
    rest = rest.slice(step[0].length)
  }
  return path
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
