/** Statements that documents show in part. */
import assert from 'node:assert/strict'

/** Fails unless the parts between what is left out (…) stand in the statement, in their order. */
export function assertShown(shown: string, sent: string): void {
  const bare = (statement: string) => statement.replace(/--.*$/gm, '').replace(/\s+/g, '')
  const [whole, parts] = [bare(sent), bare(shown).split('…')]
  assert.ok(whole.startsWith(parts[0]!), `${whole}\n${parts[0]}`)
  assert.ok(whole.endsWith(parts.at(-1)!), `${whole}\n${parts.at(-1)}`)
  let from = 0
  for (const part of parts) {
    const at = whole.indexOf(part, from)
    assert.ok(at >= 0, `${part}\nis not behind the former part in\n${whole}`)
    from = at + part.length
  }
}
