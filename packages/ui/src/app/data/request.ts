import type { Applied, Diagnostic } from './admin-api.js'

/** A refusal of the admin API, or a lost connection (status 0). */
export class Refused extends Error {
  readonly status: number
  /** Errors of a document; empty for other refusals. */
  readonly diagnostics: readonly Diagnostic[]

  constructor(status: number, message: string, diagnostics: readonly Diagnostic[] = []) {
    super(message)
    this.status = status
    this.diagnostics = diagnostics
  }
}

/** Listener for requests that are refused because the session has ended. */
export const sessionEnd = { listener: (): void => {} }

/** Sends a request to the admin API, with a JSON body if given. @throws Refused */
export function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  if (body === undefined) return send(method, path, {})
  return send(method, path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

/** Checks a document without applying it. @throws Refused */
export function tryDocument(yaml: string): Promise<Applied> {
  const headers = { 'content-type': 'application/yaml' }
  return send('PUT', '/v1/config?dryRun=1', { headers, body: yaml })
}

async function send<T>(method: string, path: string, init: RequestInit): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, { ...init, method, headers: { ...init.headers, 'x-sluice-ui': '1' } })
  } catch {
    throw new Refused(0, 'the server does not answer')
  }
  const answer = await response.json().catch(() => null)
  if (response.ok) return answer as T
  if (response.status === 401 && path !== '/v1/session') sessionEnd.listener()
  const { diagnostics } = (answer ?? {}) as { readonly diagnostics?: readonly Diagnostic[] }
  throw new Refused(response.status, problemText(answer, response.status), diagnostics)
}

function problemText(answer: unknown, status: number): string {
  const { detail, diagnostics, reasons } = (answer ?? {}) as {
    readonly detail?: string
    readonly diagnostics?: readonly { readonly message: string }[]
    readonly reasons?: readonly { readonly reason: string }[]
  }
  const causes = [
    ...(diagnostics ?? []).map(({ message }) => message),
    ...(reasons ?? []).map(({ reason }) => reason),
  ]
  return [detail ?? `the server answered ${status}`, ...causes.slice(0, 3)].join(': ')
}
