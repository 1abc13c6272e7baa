import assert from 'node:assert/strict'
import http from 'node:http'

/** Secret of the cookie encryption. */
export const SECRET = 'a secret of the gateway, which is long enough'

/** Options of a request. */
export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** Sends a request unchanged. `fetch` would declare that it is not a navigation. */
export function ask(url: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, agent: false }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.on('error', reject)
      res.on('end', () => {
        const fields = new Headers()
        for (let i = 0; i < res.rawHeaders.length; i += 2)
          fields.append(res.rawHeaders[i]!, res.rawHeaders[i + 1]!)
        const status = res.statusCode!
        const content = status === 204 || status === 304 ? null : Buffer.concat(chunks)
        resolve(new Response(content, { status, headers: fields }))
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** A browser that keeps cookies by origin and follows redirects. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>()

  /** Requests a page without following redirects. */
  async ask(url: string, asked: Asked = {}): Promise<Response> {
    const { origin } = new URL(url)
    const jar = this.jarOf(origin)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const own = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none', ...(cookie !== '' && { cookie }) }
    const response = await ask(url, { ...asked, headers: { ...own, ...asked.headers } })
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';')
      const equals = pair.indexOf('=')
      const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)]
      if (value === '' || attributes.some((one) => /^\s*max-age=0$/i.test(one))) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  jarOf(origin: string): Map<string, string> {
    const jar = this.#jars.get(origin) ?? new Map<string, string>()
    this.#jars.set(origin, jar)
    return jar
  }

  /** Follows redirects and fills in the forms of oidc-provider's development pages, until `isEnd` returns true. */
  async follow(url: string, login: string, isEnd: (next: string) => boolean): Promise<string> {
    let next = url
    for (let steps = 0; steps < 20; steps++) {
      if (isEnd(next)) return next
      const response = await this.ask(next)
      const location = response.headers.get('location')
      if (location !== null) {
        next = new URL(location, next).href
        continue
      }
      const page = await response.text()
      const action = /action="([^"]+)"/.exec(page)?.[1]
      if (action === undefined)
        throw new Error(`no form at ${next}: ${response.status} ${page.slice(0, 300)}`)
      const fields = [...page.matchAll(/<input[^>]*name="(\w+)"[^>]*value="([^"]*)"/g)].map(
        ([, name, value]) => [name!, value!] as const,
      )
      const body = new URLSearchParams({
        ...Object.fromEntries(fields),
        login,
        password: 'x',
        logout: 'yes',
      }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const sent = await this.ask(new URL(action, next).href, { method: 'POST', headers, body })
      next = new URL(sent.headers.get('location')!, next).href
    }
    throw new Error(`no end after ${next}`)
  }
}

/** Request as received by the upstream. */
export interface Shown {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Returns the upstream's view of a request that was admitted. */
export async function shown(response: Response): Promise<Shown> {
  assert.equal(response.status, 200, await response.clone().text())
  return (await response.json()) as Shown
}

/** Returns status and code of a response. */
export function errorOf(response: Response): [number, string | null] {
  return [response.status, response.headers.get('x-gw-error')]
}
