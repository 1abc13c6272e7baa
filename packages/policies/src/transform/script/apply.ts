import { appendHeader, type Exchange, type HeaderList, removeHeader, setHeader } from '@sluice/core'
import { ScriptFault } from '../../engines/script/engine.js'
import { removeByteHeaders } from '../../shared/message/body-fields.js'
import { removeLookalikes } from '../../shared/message/spoofed-fields.js'
import type { Changes, FieldChange } from './changes.js'

/** Applies the validated changes of a script. */
export function applyChanges(x: Exchange, changes: Changes, isRequest: boolean): void {
  // Steps that can fail come first, so that changes apply all or not at all.
  const query = changes.query.length === 0 ? x.query : editedQuery(x.query, changes.query)
  const headers = isRequest ? x.headers : x.responseHeaders
  // Header changes of the script override those for its new body.
  if (changes.body !== null) removeByteHeaders(headers)
  for (const change of changes.headers) {
    applyField(headers, change)
    if (isRequest && change.operation !== 'append') removeLookalikes(headers, change.name)
  }
  for (const [name, value] of changes.vars) {
    if (value === null) x.vars?.delete(name)
    else x.setVar(name, value)
  }
  if (isRequest) {
    x.query = query
    if (changes.body !== null) x.body = changes.body
    return
  }
  if (changes.status !== null) x.status = changes.status
  if (changes.body !== null) x.responseBody = changes.body
}

function applyField(headers: HeaderList, { operation, name, value }: FieldChange): void {
  if (operation === 'set') setHeader(headers, name, value)
  else if (operation === 'append') appendHeader(headers, name, value)
  else removeHeader(headers, name)
}

/** Edits a query. Unchanged parameters keep their exact text. */
function editedQuery(query: string, changes: readonly FieldChange[]): string {
  let parts = query === '' ? [] : query.split('&')
  for (const { operation, name, value } of changes) {
    if (operation !== 'append') parts = parts.filter((part) => nameOf(part) !== name)
    if (operation !== 'remove') parts.push(`${encoded(name)}=${encoded(value)}`)
  }
  return parts.join('&')
}

function nameOf(part: string): string {
  const equals = part.indexOf('=')
  const name = (equals === -1 ? part : part.slice(0, equals)).replaceAll('+', ' ')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw new ScriptFault('answer', 'the script puts an incomplete UTF-16 character into the query')
  }
}
