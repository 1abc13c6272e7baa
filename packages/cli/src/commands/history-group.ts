import { visibleText } from '@sluice/core'
import type { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { controllerClient, groupPath } from '../control/controller-client.js'
import type { ServerOptions } from '../input/options.js'
import { Failure, usageError } from '../output/failure.js'
import { print, printData, printResult, printTable } from '../output/output.js'
import { kept } from '../output/table.js'
import { ageText, shortDigest } from '../output/text.js'
import { deployNumber, type GroupOptions } from './deploy-group.js'

const HEADINGS = ['DEPLOY', 'AGE', 'CONFIG', kept('STATUS'), 'BY', 'NOTE']
const DOCUMENT = 'gateway.yaml'

/** Prints the deploys of a group, newest first. */
export async function historyGroup(options: GroupOptions): Promise<void> {
  const client = controllerClient(options)
  const [{ part: group }, { part }] = await Promise.all([
    client.get(groupPath(options.group)),
    client.get(`${groupPath(options.group)}/deploys?limit=100`),
  ])
  await printResult(part.value, options.output, () => {
    const head = group.partOrNull('head')?.number('deploy') ?? null
    printTable(
      HEADINGS,
      part.parts('deploys').map((deploy) => deployRow(deploy, head)),
      options.output,
    )
  })
}

function deployRow(deploy: AnswerPart, head: number | null): string[] {
  const number = deploy.number('deploy')
  const digest = shortDigest(deploy.text('digest'))
  const reasons = deploy.texts('reasons')
  const status = reasons.length === 0 ? deploy.text('status') : `${deploy.text('status')}: ${reasons[0]}`
  return [
    String(number),
    ageText(Date.now() - Date.parse(deploy.text('at'))),
    number === head ? `${digest} *` : digest,
    ...[status, deploy.text('actor'), deploy.text('note')].map(visibleText),
  ]
}

interface ShowOptions extends ServerOptions {
  readonly group?: string
  readonly file?: string
  readonly files?: boolean
}

/** Prints a file of a deploy, by default the document of the committed one. */
export async function showGroup({ group, ...options }: ShowOptions, deploy?: string): Promise<void> {
  if (group === undefined)
    throw usageError('the group is missing: set --group; for one gateway see gw render')
  const client = controllerClient(options)
  const number = deploy === undefined ? await headNumber(client, group) : deployNumber(deploy)
  const path = `${groupPath(group)}/deploys/${number}`
  if (options.files === true) {
    const isComposed = (await client.get(path)).part.textOrNull('source') !== null
    for (const query of isComposed ? ['', '?source=true'] : [''])
      print(
        ...(await client.get(`${path}/manifest${query}`)).part
          .parts('files')
          .map((file) => file.text('path')),
      )
    return
  }
  const file = (options.file ?? DOCUMENT).split('/').map(encodeURIComponent).join('/')
  const answer = await client.send({ method: 'GET', path: `${path}/files/${file}` })
  if (answer.status !== 200) throw client.refused(answer)
  printData(answer.text)
}

async function headNumber(client: AdminClient, group: string): Promise<number> {
  const { part } = await client.get(groupPath(group))
  const head = part.partOrNull('head')
  if (head === null) throw new Failure(`nothing was deployed to the group '${group}' yet`)
  return head.number('deploy')
}
