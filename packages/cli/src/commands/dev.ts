import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isIssue, parseAddress } from '@sluice/config'
import { isAlive, parentProcessIds } from '@sluice/core/process-stat'
import { LOG_FORMAT_ENV } from '@sluice/gateway/parent'
import { AnswerPart } from '../admin/answer-part.js'
import type { DevView } from '../dev/dev-event.js'
import { DevSession } from '../dev/dev-session.js'
import { JsonView, LineView } from '../dev/line-views.js'
import type { MockMode } from '../dev/mocked-upstreams.js'
import type { RequestRow } from '../dev/request-row.js'
import { ScreenView } from '../dev/screen-view.js'
import type { DocumentOptions, OutputOptions } from '../input/options.js'
import { untilSignal } from '../input/until-signal.js'
import { usageError } from '../output/failure.js'
import { FullScreen } from '../output/full-screen.js'
import { hasColors, outliveReader } from '../output/output.js'
import { recordPage } from './record-page.js'
import { stepTraceLines } from './step-trace-lines.js'

interface DevOptions extends DocumentOptions, OutputOptions {
  readonly port?: number
  readonly host?: string
  readonly workers: number
  readonly mock: MockMode
}

/** Interval in milliseconds for checking the npm that started this process. */
const NPM_POLL_MS = 500

/** Runs a gateway for development until the user ends it. */
export async function dev({ config, port, host, workers, mock, output }: DevOptions): Promise<void> {
  if (config === '-') throw usageError('gw dev watches its document and cannot read it from stdin')
  const listenHost = host === undefined ? null : parsedHost(host)
  outliveReader()
  // Workers write entries that this process reads.
  process.env[LOG_FORMAT_ENV] = 'json'
  const done = new AbortController()
  const signal = AbortSignal.any([untilSignal().signal, done.signal])
  const npm = followNpm(() => done.abort())
  removeStaleFolders()
  const folder = mkdtempSync(join(tmpdir(), `gw-dev-${process.pid}-`))
  const views: DevView[] = []
  const session = new DevSession({
    ...{ config, workers, mock, folder, port: port ?? null, host: listenHost },
    onEvent: (event) => views[0]?.show(event),
  })
  try {
    views.push(viewFor(output, { document: basename(config), session, onDone: () => done.abort() }))
    await session.run(signal)
  } finally {
    clearInterval(npm)
    await session.close()
    views[0]?.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}

/** Removes the scratch folders of processes that were killed. */
function removeStaleFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = /^gw-dev-(\d+)-\w{6}$/.exec(name) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // It belongs to another user.
    }
  }
}

/** @throws Failure if the text is no host */
function parsedHost(text: string): string {
  const address = parseAddress(text.includes(':') && !text.startsWith('[') ? `[${text}]:0` : `${text}:0`)
  if (text === '' || isIssue(address))
    throw usageError(`--host '${text}' is not a host; use for example --host 0.0.0.0`)
  return address.host
}

interface ViewOptions {
  readonly document: string
  readonly session: DevSession
  readonly onDone: () => void
}

function viewFor(output: OutputOptions['output'], { document, session, onDone }: ViewOptions): DevView {
  if (output === 'json') return new JsonView()
  if (!FullScreen.isAvailable()) return new LineView(document)
  return new ScreenView({
    document,
    onDone,
    page: (row, width) => pageOf(row, session.traceOf(row.id), width),
  })
}

/** Returns the record of a request, and what each policy did. */
function pageOf({ record }: RequestRow, trace: string | null, width: number): string[] {
  const page = recordPage(record)
  if (trace === null) return page
  const part = new AnswerPart(JSON.parse(trace), 'the step trace')
  return [...page, '', ...stepTraceLines(part, { pod: '', width, hasColors: hasColors() })]
}

/** Ends the command when npm or its shell exits: npx and npm do not forward signals through the shell. */
function followNpm(end: () => void): NodeJS.Timeout | undefined {
  if (process.env['npm_execpath'] === undefined) return undefined
  const parents = String(parentProcessIds())
  return setInterval(() => {
    if (String(parentProcessIds()) !== parents) end()
  }, NPM_POLL_MS)
}
