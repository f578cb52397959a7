-- needs: css/points.sql, css/costs.sql, css/passage.sql
-- Random Events in css (Guam), and where what they place may lie: 14.2, 20.0, 24.0, 25.0, 29.1.

create or replace function css._terrain_at(position_id bigint, spot public.hex)
returns text
language sql stable
return css._ground_at(position_id, spot.terrain, spot.features, spot.q, spot.r);

comment on function css._terrain_at(bigint, public.hex) is
'The terrain of a hex as it is now: a cave hex is rocky, a burnt one clear.';

create or replace function css._terrain_defense(terrain text)
returns integer
language sql stable
return (
  select max(effect.halves) / 2
  from public.terrain_effect as effect
  where effect.ruleset = 'css'
    and effect.feature = 'terrain'
    and effect.code = terrain
    and effect.aspect = 'defense'
);

comment on function css._terrain_defense(text) is
'What a terrain does to the Defense of those in it; null is not printed (6.2.1).';

create or replace function css._near_unit(state positions.state, side text, q integer, r integer, within integer)
returns boolean
language sql stable
return exists (
  select
  from public.unit
  where unit.position_id = state.position_id
    and unit.side = _near_unit.side
    and unit.q is not null
    and css._is_unit(unit.kind)
    and lattice.distance(unit.q, unit.r, _near_unit.q, _near_unit.r) <= _near_unit.within
);

comment on function css._near_unit(positions.state, text, integer, integer, integer) is
'Whether a Unit of a side is within so many hexes.';

create or replace function css.martyr_hexes(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns table (label text, disputed boolean)
language sql stable rows 5
as $$
  select spot.label, spot.disputed
  from positions.state(position_id, conditions, policy) as state
  cross join lateral (
    select
      hex.label,
      css._near_unit(state, 'us', hex.q, hex.r, 1) as beside,
      css._near_unit(state, 'us', hex.q, hex.r, 2)
      -- 20.0: or from a Beach hex in use
      or exists (
        select
        from public.map_feature_hex as lies
        inner join public.map_feature as feature on feature.id = lies.feature and feature.kind = 'beach'
        inner join public.position on position.id = state.position_id
        inner join public.hex as shore
          on shore.map_id = lies.map_id and shore.q = lies.q and shore.r = lies.r
        where lies.map_id = state.map_id
          and (position.tracks #>> array['hexes', shore.label, 'entered'])::boolean
          and lattice.distance(lies.q, lies.r, hex.q, hex.r) <= 2
      ) as near
    from public.hex
    where hex.map_id = state.map_id
      and exists (
        select
        from public.unit
        where unit.position_id = state.position_id and (unit.q, unit.r) = (hex.q, hex.r) and unit.side = 'japan'
          -- 24.0: Ambush Units may not go Gyokusai
          and css._is_unit(unit.kind) and unit.kind <> 'ambush'
      )
  ) as found
  cross join lateral (select found.label, found.beside <> found.near as disputed) as spot
  where case state.readings ->> 'css-24' when 'a' then found.beside else found.near end
  order by spot.label
$$;

comment on function css.martyr_hexes(bigint, jsonb, jsonb) is
'Where Japanese Martyrs may rise: near an American Unit or a Beach hex in use (14.2, 20.0, css-24).';

create or replace function css.lost_hexes(position_id bigint, start text default null)
returns table (label text)
language sql stable rows 5
as $$
  with recursive jungle as (
    select distinct hex.label, hex.q, hex.r
    from public.position
    inner join public.hex on hex.map_id = position.map_id and hex.terrain = 'tropical_forest'
    where position.id = position_id
      and css._held_by(position_id, 'us', hex.q, hex.r)
  ),
  lost as (
    select jungle.label, jungle.q, jungle.r from jungle where start is null or jungle.label = start
    union
    select jungle.label, jungle.q, jungle.r
    from lost
    inner join jungle on lattice.distance(jungle.q, jungle.r, lost.q, lost.r) = 1
  )
  select lost.label from lost order by lost.label
$$;

comment on function css.lost_hexes(bigint, text) is
'American hexes in Tropical Forest; with a start, those that hang together with it (20.0, event 2).';

create or replace function css.ambush_hexes(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns table (label text)
language sql stable rows 20
as $$
  select hex.label
  from positions.state(position_id, conditions, policy) as state
  inner join public.hex on hex.map_id = state.map_id
  where css._near_unit(state, 'us', hex.q, hex.r, 3)
    and not exists (
      select from public.unit where unit.position_id = state.position_id and (unit.q, unit.r) = (hex.q, hex.r)
    )
    -- it is a hex that a Leg Unit enters
    and exists (
      select
      from maps.terrain_cost as cost
      where cost.ruleset = 'css' and cost.mobility = 'leg' and cost.points is not null
        and cost.terrain = css._ground(hex.terrain, hex.features)
    )
  order by hex.label
$$;

comment on function css.ambush_hexes(bigint, jsonb, jsonb) is
'Unoccupied hexes within three of an American Unit, where event 6 places an Ambush Unit (20.0).';

create or replace function css.sniper_hexes(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns table (label text)
language sql stable rows 20
as $$
  select hex.label
  from positions.state(position_id, conditions, policy) as state
  inner join public.hex on hex.map_id = state.map_id
  -- 25.0: a Defense Value of at least 2 lowers what is fired
  where css._terrain_defense(css._terrain_at(state.position_id, hex)) <= -2
    and not exists (
      select
      from public.marker
      where marker.position_id = state.position_id and marker.kind = 'sniper' and (marker.q, marker.r) = (hex.q, hex.r)
    )
  order by hex.label
$$;

comment on function css.sniper_hexes(bigint, jsonb, jsonb) is
'Hexes in which a Sniper may lie: terrain of -2 or better, and no other Sniper (25.0).';

create or replace function css.marine_hexes(position_id bigint)
returns table (label text)
language sql stable rows 10
as $$
  select distinct hex.label
  from public.unit
  inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  where unit.position_id = marine_hexes.position_id
    and unit.side = 'us'
    and css._is_unit(unit.kind)
    and coalesce(unit.attributes ->> 'service', 'marine') = 'marine'
  order by hex.label
$$;

comment on function css.marine_hexes(bigint) is
'Hexes with Marines in them, where Drunk markers may be placed (29.1).';

create or replace function css.event(
  position_id bigint, die integer, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  event text;
  desperate boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select cell.value into event from charts.cell('css', 'random_events_table', die::text, 'event') as cell;
  select coalesce(position.tracks -> 'once' ? 'desperation', false) into desperate
  from public.position where position.id = position_id;
  return next css._entry('20.0', null, event, format('a roll of %s', die));
  if event = 'japanese_martyrs' and desperate then
    return next css._entry(
      '29.1', null, case state.readings ->> 'css-25' when 'a' then 'marines_drunk' else 'stays' end,
      'Desperation has occurred', null, null, 'css-25'
    );
    event := case state.readings ->> 'css-25' when 'a' then 'marines_drunk' else event end;
  elsif event = 'lost' and not exists (select from css.lost_hexes(position_id)) then
    return next css._entry('20.0', null, 'ambush', 'no American Unit is in Tropical Forest');
    event := 'ambush';
  end if;
  return next css._sum('20.0', event, replace(event, '_', ' '), jsonb_build_object('event', event));
end
$$;

comment on function css.event(bigint, integer, jsonb, jsonb) is
'The Random Event of a die, after what turns one event into another (20.0, 29.1).';

create or replace function css.event_divisions(
  position_id bigint, event text, conditions jsonb default null, policy jsonb default null
)
returns table (name text, told integer, after integer)
language sql stable rows 3
as $$
  select
    display.name,
    case
      when event in ('officer_initiative', 'nco_initiative') then display.dispatch_points
      when event = 'us_supply_troubles' then display.direct_commands
      else display.troop_quality
    end,
    case event
      when 'officer_initiative' then css._on_track(display.dispatch_points + 3, 9)
      when 'nco_initiative' then css._on_track(display.dispatch_points + 2, 9)
      when 'us_supply_troubles' then css._on_track(display.direct_commands - 5, 19)
      when 'stirring_speech' then css._on_track(display.troop_quality + 1, display.base_troop_quality)
      when 'jungle_experience' then css._on_track(display.troop_quality + 1, display.base_troop_quality)
      else css._on_track(display.troop_quality - 1, display.base_troop_quality)
    end
  from positions.state(position_id, conditions, policy) as state
  cross join lateral css._displays(state) as display
  where display.side = case
    when event in ('stirring_speech', 'commander_suicide', 'nco_initiative') then 'japan' else 'us'
  end
    -- 20.0: events 8 and 9 want a Division with Units on the map or at sea
    and (
      event not in ('jungle_experience', 'jungle_trouble')
      or exists (
        select
        from public.unit
        where unit.position_id = state.position_id
          and unit.attributes ->> 'division' = display.name
          and css._is_unit(unit.kind)
          and (unit.q is not null or unit.attributes ? 'zone')
      )
      -- a position that tells no units of any Division says nothing of where they are
      or not exists (
        select from public.unit where unit.position_id = state.position_id and unit.attributes ? 'division'
      )
    )
  order by display.place
$$;

comment on function css.event_divisions(bigint, text, jsonb, jsonb) is
'Divisions that an event may change, with the number as it is and as it would be (19.2, 20.0).';
