import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { TestMember } from '@sluice/control-client/testing'
import { assertAccessible, noBrowser, openPage } from './testing/browser.js'
import { startController } from './testing/controller.js'
import { ATTACK } from './testing/dashboard.js'
import { scratch } from './testing.js'

const document = (note: string): string => `version: 1
listeners: [{ address: '127.0.0.1:0' }]
routes: [{ id: one, match: { path: /one }, respond: { status: 200, body: ${note} } }]
`

test('a person sees which gateways differ and why, and follows a deploy', { skip: noBrowser }, async (t) => {
  const controller = await startController(t)
  const folder = scratch(t)
  const createToken = async (...args: readonly string[]): Promise<string> =>
    (await controller.run(['control', 'token', 'create', ...args])).stdout.trim()
  const deploy = async (note: string) => {
    writeFileSync(join(folder, 'gateway.yaml'), document(note.slice(0, 5)))
    const args = ['deploy', 'gateway.yaml', '--group', 'edge', '--note', note, '--deadline', '4m']
    return controller.run(args, { cwd: folder, token: deployer })
  }
  const deployer = await createToken('ci', '--role', 'deployer')
  const viewer = await createToken('ann', '--role', 'viewer', '--group', 'edge')
  const token = await createToken('gateways', '--role', 'member')
  assert.equal((await deploy('first')).code, 0)
  let refuse = (): void => {}
  const refused = new Promise<void>((resolve) => (refuse = resolve))
  const connect = (name: string, adminUrl: string | null, group = 'edge'): void => {
    const member = new TestMember(t, [controller.url], { token, name, group, adminUrl: () => adminUrl })
    member.refusal = 'no disk space'
    member.prepare = () => refused.then(() => ({ vote: 'refused', reasons: ['no disk space'] }))
  }
  connect('edge-1', 'http://10.0.0.1:9901')
  connect(ATTACK, null)
  connect('core-1', null, 'core')

  const page = await openPage(t, `${controller.url}/ui`)
  await page.getByLabel('Token').fill('a guess')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  await assertAccessible(page)
  await page.getByLabel('Token').fill(viewer)
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /edge-1 .*drifted.*no disk space/ }).waitFor()
  await page.getByText(ATTACK).waitFor()
  await assertAccessible(page)
  assert.equal(await page.getByText('core').count(), 0)
  assert.deepEqual(
    await page
      .locator('a[href^="http"], a[href^="javascript"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ['http://10.0.0.1:9901/ui/'],
  )
  await page.getByRole('region', { name: 'Groups' }).getByRole('link', { name: 'edge' }).click()
  await page.getByRole('row', { name: /active .* ci first/ }).waitFor()
  const running = deploy(`second ${ATTACK}`)
  await page.getByRole('heading', { name: /Running deploy #\d+/ }).waitFor()
  await page.getByText(/ci started it .* ago/).waitFor()
  await assertAccessible(page)
  refuse()
  assert.notEqual((await running).code, 0)
  await page.getByRole('row', { name: /aborted .* ci second .* refused: no disk space/ }).waitFor()
  assert.equal(await page.evaluate('window.hacked'), undefined)

  const [cookie] = await page.context().cookies()
  assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
  assert.equal(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'), 0)
  await controller.run(['control', 'token', 'revoke', 'ann'])
  await page.getByLabel('Token').waitFor()
})
