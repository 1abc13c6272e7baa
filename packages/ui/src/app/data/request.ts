/** A refusal of the admin API, or a lost connection (status 0). */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Sends a request to the admin API. @throws Refused */
export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = {
    'x-sluice-ui': '1',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  let response: Response
  try {
    response = await fetch(path, { method, headers, ...content })
  } catch {
    throw new Refused(0, 'the gateway does not answer')
  }
  const answer = await response.json().catch(() => null)
  if (response.ok) return answer as T
  throw new Refused(response.status, problemText(answer, response.status))
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
  return [detail ?? `the admin API answered ${status}`, ...causes.slice(0, 3)].join(': ')
}
