import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import { chromium, type Page } from 'playwright-core'

const executablePath = process.env['SLUICE_CHROMIUM'] ?? ''
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Reason why tests with a browser are skipped, or false. */
export const noBrowser =
  executablePath === '' &&
  'no chromium; use npm test, or SLUICE_CHROMIUM=chromium after apt-get install chromium'

/** Time for an element to appear, in milliseconds. Long, because a busy machine must not fail a test. */
const TIMEOUT_MS = 120_000

interface PageOptions {
  readonly colorScheme?: 'light' | 'dark'
  readonly width?: number
}

/** Opens a page in a real browser. Errors of the page, and violations of its security policy, fail the test. */
export async function openPage(
  t: TestContext,
  url: string,
  { colorScheme = 'light', width = 1280 }: PageOptions = {},
): Promise<Page> {
  // The sandbox needs rights that containers and root do not have.
  const browser = await chromium.launch({ executablePath: pathOf(executablePath), args: ['--no-sandbox'] })
  t.after(() => browser.close())
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
  page.setDefaultTimeout(TIMEOUT_MS)
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) errors.push(message.text())
  })
  t.after(() => assert.deepEqual(errors, []))
  await page.goto(url)
  return page
}

/** Fails if the accessibility checker finds anything. It runs outside of the page's security policy. */
export async function assertAccessible(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: AXE })
  const { result } = await session.send('Runtime.evaluate', {
    expression:
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`))',
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  assert.deepEqual(result.value, [], page.url())
}

/** Returns the path of a command, which Playwright does not search for. */
function pathOf(command: string): string {
  if (command.includes('/')) return command
  const folders = (process.env['PATH'] ?? '').split(':').map((folder) => `${folder}/${command}`)
  return folders.find((path) => existsSync(path)) ?? command
}
