import http from 'node:http'

/** Result of one request. */
export interface LoadOutcome {
  readonly id: string
  /** Response status; 0 if the connection broke or the response was truncated. */
  readonly status: number
  readonly body: string
}

/** Requests at a constant rate, regardless of earlier responses. */
export interface SteadyLoad {
  /** Number of requests sent; ids count from 0. */
  readonly sent: number
  readonly outcomes: readonly LoadOutcome[]
  /** Returns the requests without a complete 200 response of their own. */
  failed(): readonly LoadOutcome[]
  /** Stops the load and waits for responses. */
  stop(): Promise<void>
}

const EVERY_MS = 5

/**
 * Starts a constant load.
 * @param method request method; a gateway repeats requests with a body only if the client allows it.
 */
export function steadyLoad(url: string, method: 'GET' | 'POST'): SteadyLoad {
  // Use all connections in turn, so that the gateway closes none of them as idle.
  const agent = new http.Agent({ keepAlive: true, scheduling: 'fifo' })
  const outcomes: LoadOutcome[] = []
  const underway = new Set<Promise<void>>()
  let sent = 0
  const timer = setInterval(() => {
    const id = String(sent++)
    const asked = ask(url, { method, agent, id }).then((outcome) => {
      outcomes.push(outcome)
      underway.delete(asked)
    })
    underway.add(asked)
  }, EVERY_MS)
  return {
    get sent() {
      return sent
    },
    outcomes,
    failed: () => outcomes.filter(({ id, status, body }) => status !== 200 || !body.endsWith(` ${id}`)),
    stop: async () => {
      clearInterval(timer)
      await Promise.all(underway)
      agent.destroy()
    },
  }
}

function ask(
  url: string,
  { method, agent, id }: { readonly method: string; readonly agent: http.Agent; readonly id: string },
): Promise<LoadOutcome> {
  return new Promise((resolve) => {
    const broken = (): void => resolve({ id, status: 0, body: '' })
    const request = http.request(url, { method, agent, headers: { 'x-id': id } }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      response.on('end', () => resolve({ id, status: response.statusCode ?? 0, body }))
      response.on('error', broken)
    })
    request.on('error', broken)
    request.end(method === 'POST' ? `body of ${id}` : undefined)
  })
}
