-- needs: css/fire_zone.sql, css/points.sql, css/arrivals.sql
-- Victory in css (Guam): points and their track, Victory Hexes, closed beaches: 30.1, 30.2, 30.4.

create or replace function css.score(
  position_id bigint, side text, gained integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  other constant text := case side when 'us' then 'japan' else 'us' end;
  mine integer;
  theirs integer;
  over integer;
  after jsonb;
begin
  select (position.tracks #>> array[side, 'vp'])::integer, (position.tracks #>> array[other, 'vp'])::integer
  into mine, theirs
  from public.position where position.id = position_id;
  if mine is null or theirs is null then
    return next css._entry('30.1', null, 'assumed', 'a side whose points are not told has none', side);
  end if;
  mine := coalesce(mine, 0);
  theirs := coalesce(theirs, 0);
  return next css._entry('30.1', null, to_char(gained, 'FMSG99'), 'Victory Points', side, 2 * gained);
  over := greatest(mine + gained - 29, 0);
  if over > 0 then
    return next css._entry(
      '30.1', null, '-' || over, 'beyond 29 each point is taken from the other side', other, -2 * over
    );
  end if;
  after := jsonb_build_object(side, least(greatest(mine + gained, 0), 29), other, greatest(theirs - over, 0));
  return next css._sum(
    '30.1',
    case when (after ->> side)::integer = 29 and (after ->> other)::integer = 0 then 'over' else 'scored' end,
    format('%s against %s', after ->> side, after ->> other),
    jsonb_build_object(
      'vp', after,
      'over', (after ->> side)::integer = 29 and (after ->> other)::integer = 0,
      'winner', case when (after ->> side)::integer = 29 and (after ->> other)::integer = 0 then side end
    )
  );
end
$$;

comment on function css.score(bigint, text, integer, jsonb, jsonb) is
'Victory Points won: 29 is the top, the rest is taken from the other side; 29 against 0 ends the game (30.1).';

create or replace function css._watched_by(state positions.state, side text, label text)
returns setof text
language sql stable rows 2
as $$
  select distinct zone.by
  from public.hex
  cross join lateral css.side_zone(state.position_id, _watched_by.side, state.conditions, state.readings) as zone
  where hex.map_id = state.map_id
    and hex.label = _watched_by.label
    and zone.arm = 'unit'
    and (zone.q, zone.r) = (hex.q, hex.r)
  order by 1
$$;

comment on function css._watched_by(positions.state, text, text) is
'The Units of a side that have a hex in their Fire Zones.';

create or replace function css.control(
  position_id bigint, hex text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 5
as $$
#variable_conflict use_variable
declare
  state positions.state;
  spot public.hex;
  entered boolean;
  controlled text;
  held boolean;
  watchers text[];
  near boolean;
  owner text;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into spot from public.hex as known where known.map_id = state.map_id and known.label = hex;
  if spot.label is null then
    raise exception 'there is no hex % on this map', hex using errcode = 'no_data_found';
  end if;
  if not 'victory' = any(spot.features) then
    return next css._entry('30.2', null, 'assumed', 'taken as a Victory Hex', null, null, null, hex);
  end if;
  select
    coalesce((position.tracks #>> array['hexes', hex, 'entered'])::boolean, false),
    position.tracks #>> array['hexes', hex, 'controlled_by']
  into entered, controlled
  from public.position where position.id = position_id;
  entered := entered or css._held_by(position_id, 'us', spot.q, spot.r);
  held := css._held_by(position_id, 'japan', spot.q, spot.r);
  watchers := array(select code from css._watched_by(state, 'japan', hex) as code);
  near := exists (
    select
    from public.unit
    where unit.position_id = position_id
      and unit.side = 'japan'
      and unit.q is not null
      and css._is_unit(unit.kind)
      and lattice.distance(unit.q, unit.r, spot.q, spot.r) <= 5
  );
  return next css._entry(
    '30.2', null, case when entered then 'entered' else 'not entered' end,
    case when entered then 'an American Unit has moved in' else 'no American Unit has moved in' end, null, null, null, hex
  );
  return query
  select (css._entry('30.2', null, 'covers', 'has the hex in its Fire Zone', watcher, null, null, hex)).*
  from unnest(watchers) as watcher;
  owner := case
    when entered and not held and cardinality(watchers) = 0 then 'us'
    when controlled = 'us' and not held then 'us'
    else 'japan'
  end;
  if owner = 'japan' and not held and not near then
    return next css._entry(
      '30.2', null, 'may concede', 'no Japanese Unit is within 5 hexes: they may concede it', null, null, null, hex
    );
  end if;
  return next css._sum(
    '30.2', owner, format('%s controls the hex', case owner when 'us' then 'the American side' else 'the Japanese side' end),
    jsonb_build_object(
      'controlled_by', owner,
      'entered', entered,
      'fire_zones', to_jsonb(watchers),
      'may_concede', owner = 'japan' and not held and not near
    ),
    hex
  );
end
$$;

comment on function css.control(bigint, text, jsonb, jsonb) is
'Who controls a Victory Hex: the Americans once they have entered and no Japanese Fire Zone lies on it (30.2).';

create or replace function css.close_beach(
  position_id bigint, beach text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  shore record;
  entered text;
  bar record;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into shore from css._beach(state.map_id, beach);
  if shore.label is null then
    raise exception 'there is no beach or hex % on this map', beach using errcode = 'no_data_found';
  end if;
  select position.tracks #>> array['hexes', shore.label, 'entered'] into entered
  from public.position where position.id = position_id;
  for bar in
    select *
    from (
      values
      (
        exists (
          select from public.marker
          where marker.position_id = position_id and marker.kind = 'beach_closed'
            and (marker.q, marker.r) = (shore.q, shore.r)
        ),
        'the beach is closed already, and its point was scored'
      ),
      (not css._held_by(position_id, 'japan', shore.q, shore.r), 'no Japanese Unit is in the beach hex'),
      (entered = 'false', 'no American Unit has entered the beach before')
    ) as bars (holds, note)
    where bars.holds
  loop
    return next css._sum('30.4', 'refused', bar.note, '{}', shore.label);
    return;
  end loop;
  if entered is null then
    return next css._entry(
      '30.4', null, 'assumed', 'Americans have entered it before', null, null, null, shore.label
    );
  end if;
  return next css._entry('30.4', null, '+1', 'Victory Point, once', 'japan', 2, null, shore.label);
  return next css._sum('30.4', 'closed', 'the beach is closed', jsonb_build_object('at', shore.label, 'points', 1), shore.label);
end
$$;

comment on function css.close_beach(bigint, text, jsonb, jsonb) is
'Whether a beach that Japanese Units enter is closed, for one Victory Point (30.4).';

create or replace function css.victory(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  tracks jsonb;
  points jsonb;
  winner text;
begin
  select position.tracks into tracks from public.position where position.id = position_id;
  points := jsonb_strip_nulls(jsonb_build_object('us', tracks #> '{us,vp}', 'japan', tracks #> '{japan,vp}'));
  winner := case
    when points @> '{"us": 29, "japan": 0}' then 'us' when points @> '{"us": 0, "japan": 29}' then 'japan'
  end;
  if winner is not null then
    return next css._entry('30.1', null, 'over', '29 Victory Points against none', winner);
  elsif tracks #> '{schedule,victory}' is null then
    return next css._entry('30.0', null, 'unknown', 'scenario_data');
  end if;
  return next css._sum(
    '30.0', case when winner is not null then 'won' else 'open' end,
    case when winner is not null then 'the game is over' else 'the scenario decides' end,
    jsonb_build_object('winner', winner, 'points', points, 'scenario', tracks #> '{schedule,victory}')
  );
end
$$;

comment on function css.victory(bigint, jsonb, jsonb) is
'Who has won by the points of the track; beyond that the scenario decides, which is not printed (30.0, 30.1).';
