import { Refused } from './request.js'

/** Posts to the admin API and passes on each JSON line of the answer, until it ends or is aborted. @throws Refused */
export async function stream<T>(
  path: string,
  body: unknown,
  { signal, onLine }: { readonly signal: AbortSignal; readonly onLine: (line: T) => void },
): Promise<void> {
  const headers = { 'x-sluice-ui': '1', 'content-type': 'application/json' }
  try {
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), signal })
    if (!response.ok) {
      const { detail = '' } = (await response.json().catch(() => ({}))) as { readonly detail?: string }
      throw new Refused(response.status, detail)
    }
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const lines = (rest + part.value).split('\n')
      rest = lines.pop()!
      for (const line of lines) onLine(JSON.parse(line) as T)
    }
  } catch (error) {
    if (signal.aborted) return
    throw error instanceof Refused ? error : new Refused(0, 'the connection to the gateway was lost')
  }
}
