-- needs: games/append.sql
-- A position made from a tree, as games.tree tells one: to branch off, to ask about a moment, to play a log again.

create or replace function games.store(map_id bigint, ruleset text, policy jsonb, tree jsonb)
returns bigint
language plpgsql
as $$
declare
  made bigint;
begin
  insert into public.position (map_id, ruleset, conditions, policy, tracks)
  values (store.map_id, store.ruleset, tree -> 'conditions', store.policy, tree -> 'tracks')
  returning position.id into made;
  perform positions._note_own(made);
  insert into public.unit (position_id, map_id, code, side, kind, q, r, attributes)
  select
    made, store.map_id, told.code, told.unit ->> 'side', told.unit ->> 'kind', hex.q, hex.r,
    told.unit - array['side', 'kind', 'at']
  from jsonb_each(tree -> 'units') as told (code, unit)
  left join public.hex on hex.map_id = store.map_id and hex.label = told.unit ->> 'at';
  insert into public.marker (position_id, map_id, q, r, kind, value, facing, attributes)
  select
    made, store.map_id, hex.q, hex.r, told.marker ->> 'kind', (told.marker ->> 'value')::integer,
    (told.marker ->> 'facing')::smallint, told.marker - array['kind', 'at', 'value', 'facing']
  from jsonb_array_elements(tree -> 'markers') as told (marker)
  left join public.hex on hex.map_id = store.map_id and hex.label = told.marker ->> 'at';
  return made;
end
$$;

comment on function games.store(bigint, text, jsonb, jsonb) is
'A nameless position with all that a tree tells, on a map; its digest is that of the position the tree was told of.';

create or replace function games.renewed(position_id bigint)
returns bigint
language plpgsql
as $$
declare
  made bigint := positions.copy(renewed.position_id);
begin
  update public.game set position_id = made where game.position_id = renewed.position_id;
  -- what was seen is seen still
  update public.viewshed set position_id = made where viewshed.position_id = renewed.position_id;
  update public.kept_line set position_id = made where kept_line.position_id = renewed.position_id;
  delete from public.position where position.id = renewed.position_id;
  return made;
end
$$;

comment on function games.renewed(bigint) is
'A position as rows of its own, and the game that it belongs to with it: within one transaction every version of a row stays in the way of who looks for the last.';

create or replace function games.replay(game_id bigint)
returns table (number integer, digest text, position_digest text)
language plpgsql
as $$
declare
  first public.snapshot;
  passing bigint;
  done public.event;
begin
  select snapshot.* into first
  from public.snapshot
  where snapshot.game_id = replay.game_id
    and snapshot.number = 1;
  select games.store(position.map_id, position.ruleset, position.policy, first.tree) into passing
  from public.game
  inner join public.position on position.id = game.position_id
  where game.id = replay.game_id;
  for done in select event.* from public.event where event.game_id = replay.game_id order by event.number loop
    if done.changes <> '[]' then
      perform games.apply(passing, done.changes);
    end if;
    number := done.number;
    digest := games.event_digest(done);
    position_digest := games.digest(passing);
    return next;
    if number % games.snapshot_interval() = 0 then
      passing := games.renewed(passing);
    end if;
  end loop;
  delete from public.position where position.id = passing;
end
$$;

comment on function games.replay(bigint) is
'Every event of a game applied again from its beginning: the digests of event and position that come out.';
