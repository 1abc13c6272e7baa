import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { until } from './gateway.js'
import { closedPort } from './origin.js'

/** Reason to skip tests with nginx; false if it is installed. */
export const nginxSkip =
  spawnSync('nginx', ['-v']).error === undefined
    ? false
    : 'nginx is not installed (apt-get install nginx-light)'

/** Starts a real nginx with these locations and returns its port. It is killed after the test. */
export async function startNginx(t: TestContext, locations: string): Promise<number> {
  const port = await closedPort()
  const dir = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${dir}/${kind};`)
    .join(' ')
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log crit;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000; ${temporary}
  server { listen 127.0.0.1:${port}; default_type text/plain; ${locations} } }
`,
  )
  const nginx = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], { stdio: 'ignore' })
  t.after(() => {
    nginx.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  })
  await until(() => accepts(port))
  return port
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
