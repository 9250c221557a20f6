/**
 * The baseline that a good engineer writes in an hour: Fastify and `pg` on the same table, a pool of ten,
 * without tokens, validation, events or version checks.
 */
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const app = Fastify()
// The columns a hand-written table would have: all but the stored text.
const { rows: names } = await pool.query(
  "SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS list FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'deal' AND column_name <> 'document'",
)
const columns = names[0].list as string
await pool.query('CREATE SEQUENCE IF NOT EXISTS plain_deal START 10000000')

type Deal = {
  title: string
  pipeline: number
  pipeline_stage: number
  primary_contact: number
  sales_owner: number
  deal_value: { value: number }
  description: string
}

app.get<{ Params: { id: string } }>('/deal/:id', async request => {
  const { rows } = await pool.query(
    `SELECT ${columns} FROM deal WHERE account_id = 1 AND id = $1 AND deleted_at IS NULL`,
    [request.params.id],
  )
  return rows[0]
})
app.get<{ Querystring: { stage: string } }>('/list', async request => {
  const text = `SELECT ${columns} FROM deal WHERE account_id = 1 AND pipeline_stage = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT 25`
  return (await pool.query(text, [request.query.stage])).rows
})
app.get<{ Querystring: { stage: string; id: string } }>('/list-before', async request => {
  const text = `SELECT ${columns} FROM deal WHERE account_id = 1 AND pipeline_stage = $1 AND id < $2 AND deleted_at IS NULL ORDER BY id DESC LIMIT 25`
  return (await pool.query(text, [request.query.stage, request.query.id])).rows
})
app.get<{ Querystring: { word: string } }>('/contains', async request => {
  const text = `SELECT ${columns} FROM deal WHERE account_id = 1 AND title ILIKE $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT 25`
  return (await pool.query(text, [`%${request.query.word}%`])).rows
})
app.post<{ Body: Deal }>('/deal', async (request, reply) => {
  const { title, pipeline, pipeline_stage, primary_contact, sales_owner, deal_value } = request.body
  const text =
    'INSERT INTO deal (account_id, id, title, pipeline, pipeline_stage, primary_contact, sales_owner, deal_value_currency, deal_value_currency_code, ' +
    'deal_value_value, status, stage_probability, deal_stage_updated_at, last_assigned_at, created_at, updated_at, created_by, updated_by, document) ' +
    `SELECT 1, nextval('plain_deal'), $1, $2, $3, $4, $5, 840, 'USD', $6, 1, 10, now(), now(), now(), now(), 1, 1, '' RETURNING ${columns}`
  const { rows } = await pool.query(text, [
    title,
    pipeline,
    pipeline_stage,
    primary_contact,
    sales_owner,
    deal_value.value,
  ])
  return reply.code(201).send(rows[0])
})
app.patch<{ Params: { id: string }; Body: Deal }>('/deal/:id', async request => {
  const text = `UPDATE deal SET description = $2, updated_at = now(), version = version + 1 WHERE account_id = 1 AND id = $1 RETURNING ${columns}`
  return (await pool.query(text, [request.params.id, request.body.description])).rows[0]
})

console.log(`ready at ${await app.listen({ port: 0, host: '127.0.0.1' })}`)
