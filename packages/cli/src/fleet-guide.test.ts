import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { blocksOf, commandsOf, FLEET_PAGE, patternOf, ROOT, simplified } from './testing/guide-pages.js'
import { closedPort, killGroup, scratch, until } from './testing.js'

/** Number of gateways in the test, in place of twenty. */
const GATEWAYS = 3
/** Commands without an effect, which readers repeat until a gateway is connected. */
const REPEATED = /^(gw (fleet|history)|curl) /

/** Replaces the ports and the number of gateways. The gateways use the ports after the first one. */
async function withOwnPorts(): Promise<(text: string) => string> {
  const [controller, first] = [await closedPort(), await closedPort()]
  return (text) =>
    text
      .replaceAll('9910', String(controller))
      .replaceAll('8080', String(first))
      .replaceAll(/(?<=127\.0\.0\.1:)80(8\d)|8100/g, (_, last = 80 + GATEWAYS) =>
        String(first + Number(last) - 80),
      )
      .replaceAll('gw-20 ', `gw-${GATEWAYS} `)
      .replaceAll('seq 3 20', `seq 3 ${GATEWAYS}`)
      .replaceAll('20 of 20', `${GATEWAYS} of ${GATEWAYS}`)
}

/** Starts a shell in a folder with the real `gw`. Returns a function that runs a command. */
function startShell(t: TestContext, folder: string) {
  mkdirSync(join(folder, 'bin'))
  symlinkSync(fileURLToPath(new URL('packages/cli/bin/gw.mjs', ROOT)), join(folder, 'bin/gw'))
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  for (const name of Object.keys(env)) if (/^GW_/.test(name)) delete env[name]
  const bash = spawn('bash', { cwd: folder, env, detached: true })
  t.after(() => killGroup(bash))
  let text = ''
  bash.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const end = /\u0001(\d+)\u0001$/
  return async (command: string): Promise<{ readonly code: number; readonly output: string }> => {
    text = ''
    bash.stdin.write(`{ ${command}\n} 2>&1; printf '\\001%d\\001' $?\n`)
    await until(
      () => end.test(text),
      () => `${command}: ${text}`,
    )
    return { code: Number(end.exec(text)![1]), output: text.replace(end, '') }
  }
}

test('the guide from one gateway to twenty runs as it is shown', async (t) => {
  const own = await withOwnPorts()
  const folder = scratch(t)
  const run = startShell(t, folder)
  await run(`curl() { command curl -s "$@"; }; export GW_CONTROL_SERVER=${own('http://127.0.0.1:9910')}`)
  for (const block of blocksOf(FLEET_PAGE)) {
    if (block.language === 'yaml') writeFileSync(join(folder, 'gateway.yaml'), block.text)
    if (block.language !== '') continue
    for (const { place, command, output } of commandsOf(block)) {
      const line = own(command).replace('control start', `control start --listen ${own('127.0.0.1:9910')}`)
      const isAsShown = async (): Promise<boolean> => {
        result = await run(line)
        if (process.env.SHOW_OUTPUT !== undefined)
          console.log(`### ${line} [${result.code}]\n${result.output}`)
        return output === null || patternOf(own(output)).test(simplified(result.output))
      }
      let result = { code: -1, output: '' }
      const describe = (): string =>
        `${place}: '${line}' ended with ${result.code} and printed\n${result.output}`
      if (REPEATED.test(`${line} `)) await until(isAsShown, describe)
      else assert.ok(await isAsShown(), describe())
    }
  }
})
