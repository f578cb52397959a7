-- needs: games/apply.sql
-- The log of a game: events appended and never changed, and a guard on the position that they make.

create or replace function games.event_digest(event public.event)
returns text
language sql immutable parallel safe
return encode(
  sha256(
    convert_to(
      event.previous
      || (to_jsonb(event) - array['game_id', 'digest', 'previous', 'at'])::text
      || to_char(event.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
      'UTF8'
    )
  ),
  'hex'
);

comment on function games.event_digest(public.event) is
'SHA-256 of an event with the digest of the one before it: whoever changes one changes all that follow.';

create or replace function games._event(told jsonb)
returns public.event
language sql immutable parallel safe
return jsonb_populate_record(
  null::public.event,
  '{"arguments": {}, "rolls": [], "draws": [], "choices": [], "answer": {}, "steps": [], "contested": [],'
  ' "effects": [], "changes": [], "phase": {}, "legality": "legal", "undoes": []}'::jsonb || told
);

comment on function games._event(jsonb) is
'An event as it is told; what is not told of it is empty.';

create or replace function games._version(version text, ruleset text)
returns text
language plpgsql stable
as $$
declare
  filled text := charts.filled_digest(_version.ruleset);
begin
  return case
    when filled is null then version
    else left(encode(sha256(convert_to(version || filled, 'UTF8')), 'hex'), 16)
  end;
end
$$;

comment on function games._version(text, text) is
'Who rules in this database: a version of the rules, and what was filled into charts.';

create or replace function games.append(game_id bigint, told jsonb, key text default null, asked text default null)
returns setof public.event
language plpgsql
-- with its owner's rights: nobody else writes an event
security definer
set search_path = public, pg_temp
as $$
declare
  written public.event;
  playing public.game;
begin
  select * into playing from public.game where game.id = append.game_id for update;
  if not found then
    raise exception 'there is no game %', append.game_id using errcode = 'no_data_found';
  end if;
  written := games._event(append.told);
  written.game_id := playing.id;
  written.number := playing.events + 1;
  written.at := coalesce(written.at, clock_timestamp());
  written.ruleset_version := games._version(written.ruleset_version, playing.ruleset);
  if written.changes <> '[]' then
    written.changes := games.apply(playing.position_id, written.changes);
  end if;
  written.previous := playing.digest;
  written.position_digest := games.digest(playing.position_id);
  written.digest := games.event_digest(written);
  insert into public.event values (written.*);
  update public.game
  set
    events = written.number,
    digest = written.digest,
    pending = null
  where game.id = playing.id;
  if written.number % games.snapshot_interval() = 0 then
    insert into public.snapshot (game_id, number, tree)
    values (playing.id, written.number, games.tree(playing.position_id));
  end if;
  if append.key is not null then
    insert into public.request (game_id, key, asked, number)
    values (playing.id, append.key, append.asked, written.number);
  end if;
  perform pg_notify('sightline_game', json_build_object('game', playing.name, 'event', written.number)::text);
  return next written;
end
$$;

comment on function games.append(bigint, jsonb, text, text) is
'Change a game''s position and write that down as an event: its number, its digests, the key of the request, and word to'
' who listens.';

create or replace function games.restore(game_id bigint, number integer, told jsonb)
returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  written public.event := games._event(told);
  played bigint;
begin
  if restore.number is distinct from (select game.events + 1 from public.game where game.id = restore.game_id for update) then
    raise exception 'event % is not the next of this game', restore.number using errcode = 'restrict_violation';
  end if;
  written.game_id := restore.game_id;
  written.number := restore.number;
  insert into public.event values (written.*);
  update public.game
  set
    events = written.number,
    digest = written.digest
  where game.id = restore.game_id
  returning game.position_id into played;
  if written.changes <> '[]' then
    perform games.apply(played, written.changes);
  end if;
  if written.number % games.snapshot_interval() = 0 then
    insert into public.snapshot (game_id, number, tree)
    values (restore.game_id, written.number, games.tree(played));
  end if;
end
$$;

comment on function games.restore(bigint, integer, jsonb) is
'An event of a record, digests and all, with its changes made; whether it is true is for games.replay to say.';

create or replace function games.snapshot_interval()
returns integer
language sql immutable parallel safe
return 50;

comment on function games.snapshot_interval() is
'After how many events the whole position is kept.';

create or replace function games._immutable()
returns trigger
language plpgsql
as $$
begin
  -- a game that is deleted takes its log along
  if tg_op = 'DELETE' and not exists (select from public.game where game.id = old.game_id) then
    return old;
  end if;
  raise exception 'event % is written; what was done can be taken back by another event, never changed', old.number
  using errcode = 'restrict_violation';
end
$$;

comment on function games._immutable() is
'Trigger: an event is never changed and never deleted, but with its whole game.';

create or replace trigger immutable
before update or delete on public.event
for each row execute function games._immutable();

create or replace function games._guard_position(position_id bigint)
returns void
language plpgsql
-- a table of few games would be read whole, with every version of a row that this transaction has written
set enable_seqscan = off
as $$
begin
  if current_setting('sightline.applying', true) = _guard_position.position_id::text then
    return;
  end if;
  if exists (select from public.game where game.position_id = _guard_position.position_id) then
    raise exception 'this position belongs to a game, and only its log writes it'
    using
      errcode = 'restrict_violation',
      hint = 'Enter an action (`sightline game act`), or set it by hand as the referee (`sightline game act NAME set`).';
  end if;
end
$$;

comment on function games._guard_position(bigint) is
'An error where somebody else than games.apply writes the position of a game.';

create or replace function games._guard()
returns trigger
language plpgsql
as $$
begin
  if tg_table_name = 'position' then
    perform games._guard_position(old.id);
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op <> 'INSERT' then
    perform games._guard_position(old.position_id);
  end if;
  if tg_op <> 'DELETE' then
    perform games._guard_position(new.position_id);
    return new;
  end if;
  return old;
end
$$;

comment on function games._guard() is
'Trigger: the position of a game is written by its log only.';

create or replace trigger guard
before insert or update or delete on public.unit
for each row execute function games._guard();

create or replace trigger guard
before insert or update or delete on public.marker
for each row execute function games._guard();

create or replace trigger guard
before update or delete on public.position
for each row execute function games._guard();

create or replace function games._no_truncate()
returns trigger
language plpgsql
as $$
begin
  raise exception 'the log of a game is never emptied' using errcode = 'restrict_violation';
end
$$;

comment on function games._no_truncate() is
'Trigger: all events at once cannot be deleted either.';

create or replace trigger no_truncate
before truncate on public.event
for each statement execute function games._no_truncate();
