/** A listening address, `host:port`. @throws Error when the text is none. */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const at = text.lastIndexOf(':')
  const host = text.slice(0, at)
  const port = /^\d{1,5}$/.test(text.slice(at + 1)) ? Number(text.slice(at + 1)) : Number.NaN
  if (at > 0 && port < 65_536) return { host, port }
  throw new Error(`'${text}' is no address; write host:port, such as 127.0.0.1:9000`)
}
