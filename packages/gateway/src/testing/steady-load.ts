import http from 'node:http'

/** What became of one request. */
export interface LoadOutcome {
  readonly id: string
  /** 0: the connection broke, or the response was cut short. */
  readonly status: number
  readonly body: string
}

/** Requests at a steady pace, whatever becomes of those before. */
export interface SteadyLoad {
  /** How many have begun; their ids count from 0. */
  readonly sent: number
  readonly outcomes: readonly LoadOutcome[]
  /** Those that did not get a whole answer of 200 to their own request. */
  failed(): readonly LoadOutcome[]
  /** Ends the load and waits for the answers. */
  stop(): Promise<void>
}

const EVERY_MS = 5

/** @param method of the requests; one with a body is not repeated by a gateway unless the client allows it. */
export function steadyLoad(url: string, method: 'GET' | 'POST'): SteadyLoad {
  // All connections take turns, so that none of them is idle for so long that the gateway ends it.
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
