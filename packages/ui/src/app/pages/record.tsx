import type { ComponentChildren } from 'preact'
import { Badge, Card, type Column, Problem, Table } from '../components/parts.js'
import { Waterfall } from '../components/waterfall.js'
import { hashOf } from '../data/address.js'
import type { ExplainedRecord, LogRecord, RecordedPolicy } from '../data/admin-api.js'
import { useAnswer } from '../data/answer.js'
import { phaseSpans, requestSpans } from '../data/spans.js'
import { ageText } from '../data/text.js'
import { toneOf } from './log.js'

/** Everything that the traffic log has about a request, and why it got its response. */
export function RecordPage({ id }: { id: string }) {
  const { value, problem } = useAnswer<ExplainedRecord>(`/v1/records/explain?id=${encodeURIComponent(id)}`)
  if (value === null) return problem === null ? <p class="empty">Searching …</p> : <Problem text={problem} />
  const { record, refusal, policies } = value
  const details = requestSpans(record)
  return (
    <>
      <p class="request-line">
        <Badge tone={toneOf(record.res?.status ?? 0)}>{record.res?.status}</Badge>{' '}
        <code>{urlOf(record)}</code>
      </p>
      <p class="links">
        <a href="#/log">All requests</a>
        <a href={explainHash(record)}>Explain this request</a>
        {record.trace?.id === undefined ? null : (
          <a href={hashOf('traces', record.trace.id)}>Show its trace</a>
        )}
      </p>
      <div class="columns">
        <Reason value={value} />
        <Facts value={value} />
      </div>
      <Card title="Phases" note="add up to the whole time">
        <Waterfall caption="Phases" spans={phaseSpans(record)} />
      </Card>
      {details.length < 2 ? null : (
        <Card title="Policies, calls and attempts">
          <Waterfall caption="Policies, calls and attempts" spans={details} />
        </Card>
      )}
      <Card title="Policies" note="in the order in which they run">
        <Table
          caption="Policies"
          columns={policyColumns(refusal?.policy ?? '')}
          rows={policies}
          keyOf={(policy) => policy.id}
          empty="The route has no policies, or is not in the active plan."
        />
      </Card>
      <Messages record={record} />
    </>
  )
}

/** Why the request got its response. */
function Reason({ value: { record, refusal } }: { value: ExplainedRecord }) {
  if (refusal === null) {
    const { up } = record
    const who =
      up?.status === undefined ? 'the gateway' : `the upstream ${up.name}, which returned ${up.status}`
    return (
      <Card title="Answered">
        <p>By {who}. The gateway refused nothing.</p>
      </Card>
    )
  }
  const { code, policy, cause, message, reason, remedy, accepts } = refusal
  return (
    <Card title="Refused">
      <List
        facts={[
          ['Code', <code key="code">{code}</code>],
          ['By', policy === '' ? 'the gateway' : `policy ${policy}`],
          ['Because', cause],
          ['Detail', message],
          ['Reason', reason],
          ['Needed', remedy],
          ['Accepted', accepts],
        ]}
      />
    </Card>
  )
}

function Facts({ value: { record, configuration, route } }: { value: ExplainedRecord }) {
  const { client, consumer, up, req, res, result } = record
  const { recorded, active, deploy } = configuration
  const isActive = recorded !== '' && active?.startsWith(recorded) === true
  const age =
    deploy === null ? '' : `, deploy #${deploy.id} of ${ageText(Date.now() - Date.parse(deploy.at))} ago`
  const note = isActive ? ', active' : ', not active any more: the policies below are those of now'
  return (
    <Card title="Request">
      <List
        facts={[
          ['Time', record['@timestamp']],
          ['Result', result],
          ['Client', client?.ip],
          ['Consumer', consumer?.name],
          ['Route', route === null ? record.route : <a href={hashOf('routes', route.id)}>{route.id}</a>],
          ['Upstream', [up?.name, up?.addr].filter((part) => part !== undefined).join(' ')],
          ['Bodies', `${req?.bytes_b ?? 0} bytes received, ${res?.bytes_b ?? 0} sent`],
          ['Configuration', recorded === '' ? '' : `${recorded}${age}${note}`],
        ]}
      />
    </Card>
  )
}

function List({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  const present = facts.filter(([, value]) => value !== '' && value !== undefined)
  return (
    <dl class="facts">
      {present.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const OUTCOMES: Readonly<Record<string, string>> = {
  pass: 'passed',
  skip: 'skipped: its condition was false',
  stop: 'refused or answered',
  error: 'failed',
}

function policyColumns(refusing: string): readonly Column<RecordedPolicy>[] {
  return [
    {
      title: 'Policy',
      cell: ({ id, use }) => (
        <>
          <b>{use}</b> {id === use ? null : <span class="soft">{id}</span>}
        </>
      ),
    },
    {
      title: 'Outcome',
      cell: ({ id, out, note }) =>
        out === 'stop' || id === refusing ? (
          <Badge tone="bad">refused{note === '' ? '' : `: ${note}`}</Badge>
        ) : (
          `${OUTCOMES[out] ?? 'not recorded'}${note === '' ? '' : `, ${note}`}`
        ),
    },
    {
      title: 'Time taken',
      cell: ({ ms }) => (ms === null ? '–' : `${ms.toFixed(3)} ms`),
      by: ({ ms }) => ms ?? -1,
      isNumber: true,
    },
    {
      title: 'Configuration',
      cell: ({ meaning, when, with: settings }) => (
        <>
          {meaning.map((sentence) => (
            <div key={sentence}>{sentence}</div>
          ))}
          {when === null ? null : (
            <div>
              when <code>{when}</code>
            </div>
          )}
          <code>{JSON.stringify(settings)}</code>
        </>
      ),
      isExtra: true,
    },
  ]
}

const REGIONS: Readonly<Record<string, string>> = {
  req_in: 'Request from the client',
  req_up: 'Request to the target',
  res_up: 'Response of the target',
  res_out: 'Response to the client',
}

/** Headers and bodies, as far as they were captured. */
function Messages({ record: { hdr = {}, body = {} } }: { record: LogRecord }) {
  const regions = Object.entries(REGIONS).filter(([region]) => hdr[region] ?? body[region])
  if (regions.length === 0)
    return (
      <Card title="Headers and bodies">
        <p class="empty">Not recorded. Set log.capture in the document to record them.</p>
      </Card>
    )
  return (
    <div class="columns">
      {regions.map(([region, title]) => (
        <Card key={region} title={title}>
          <pre class="wrap">
            {Object.entries(hdr[region] ?? {})
              .map(([name, value]) => `${name}: ${value}\n`)
              .join('')}
          </pre>
          <BodyText body={body[region]} />
        </Card>
      ))}
    </div>
  )
}

function BodyText({ body }: { body: NonNullable<LogRecord['body']>[string] | undefined }) {
  if (body === undefined) return null
  const { text, base64, bytes = 0, truncated, ct = '' } = body
  return (
    <>
      <p class="soft">
        {bytes} bytes {ct}
        {truncated === true ? ', only the beginning was recorded' : ''}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section class="plan" tabIndex={0} aria-label="Body">
        <pre class="wrap">{text ?? base64 ?? ''}</pre>
      </section>
    </>
  )
}

function urlOf({ http, url }: LogRecord): string {
  const query = url?.query === undefined ? '' : `?${url.query}`
  const scheme = url?.scheme === undefined ? '' : `${url.scheme}://`
  return `${http?.method} ${scheme}${url?.host ?? ''}${url?.path ?? ''}${query}`
}

/** Returns the address of the explain page for the same request. */
function explainHash({ http, url, consumer, client }: LogRecord): string {
  const query = url?.query === undefined ? '' : `?${url.query}`
  return hashOf('explain', null, {
    method: http?.method ?? 'GET',
    url: `http://${url?.host ?? ''}${url?.path ?? ''}${query}`,
    consumer: consumer?.id ?? '',
    clientIp: client?.ip ?? '',
  })
}
