import type { WebhookOptions } from './options.js'

/** A shorter value is no secret worth the name, and would be masked in the middle of words. */
const SHORTEST_SECRET = 4
/** With it a record begins: what follows is the body that was sent. */
const RECORD = '{"@timestamp"'

/** The beginning of a receiver's answer for operators: without what was sent to it, should it repeat that. */
export function shownText(text: string, options: WebhookOptions): string {
  let reported = text
  for (const secret of secretsOf(options)) reported = reported.replaceAll(secret, '***')
  const record = reported.replaceAll('\\"', '"').indexOf(RECORD)
  return record === -1 ? reported : `${reported.slice(0, record)}…`
}

function secretsOf({ headers, auth, signature }: WebhookOptions): string[] {
  const ofAuth = auth === null ? [] : 'token' in auth ? [auth.token] : [basicOf(auth), auth.password]
  const all = [...ofAuth, ...Object.values(headers), ...(signature === null ? [] : [signature.secret])]
  return all.filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length)
}

function basicOf({ username, password }: { readonly username: string; readonly password: string }): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}
