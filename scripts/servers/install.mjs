/**
 * All of Debian's packages that the tests need, in one go and before the first test: a test that had to wait for
 * apt would run out of its time.
 */
import { ensureDebian } from './debian.mjs'

/** Each package, and a file by which it is known to be there. */
const NEEDED = {
  postgresql: '/usr/lib/postgresql',
  'redis-server': '/usr/bin/redis-server',
  'nats-server': '/usr/sbin/nats-server',
  'rabbitmq-server': '/usr/sbin/rabbitmq-server',
  'openjdk-17-jre-headless': '/usr/bin/java',
  chromium: '/usr/bin/chromium',
  'fonts-dejavu-core': '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
  python3: '/usr/bin/python3',
  openssl: '/usr/bin/openssl',
  curl: '/usr/bin/curl',
  spin: '/usr/bin/spin',
  gcc: '/usr/bin/gcc',
  'libc6-dev': '/usr/include/stdlib.h',
}

await ensureDebian(Object.keys(NEEDED), Object.values(NEEDED))
