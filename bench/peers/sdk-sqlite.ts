import { createServer } from 'node:http';
import { DefaultRequestHandler } from '@a2a-js/sdk/server';
import { DatabaseTaskStore, TASK_TABLE } from '@a2a-js/sdk/server/database';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import Database from 'better-sqlite3';
import express from 'express';
import { Kysely, SqliteDialect } from 'kysely';
import { listen } from './listen.ts';
import { card, echoExecutor } from './sdk-echo.ts';

/* The reference SDK's own server over its SQLite store. Usage: sdk-sqlite.js <file> <NORMAL|FULL> */

const [file = ':memory:', synchronous = 'NORMAL'] = process.argv.slice(2);
const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma(`synchronous = ${synchronous === 'FULL' ? 'FULL' : 'NORMAL'}`);
database.exec(`create table if not exists ${TASK_TABLE} (
  tenant text not null, owner text not null, id text not null, context_id text not null,
  status_last_updated integer not null, status_state text, status text, artifacts text, history text, metadata text,
  protocol_version text, primary key (tenant, owner, id))`);
const store = new DatabaseTaskStore(new Kysely<unknown>({ dialect: new SqliteDialect({ database }) }));
const app = express();
const requestHandler = new DefaultRequestHandler(card, store, echoExecutor);
app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
listen(createServer(app));
