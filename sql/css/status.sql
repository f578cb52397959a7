-- needs: css/fire_zone.sql, css/command.sql, css/points.sql, charts/cells.sql
-- Counters and hexes as combat sees them in css (Guam): 2.0, 3.2, 5.2, 8.5.4, 10.0, 11.1, 13.2, 24.2.
--
-- A piece is a counter with the numbers of the side on which it lies; a footing is a hex, or the cave in it, with all
-- markers that combat asks for. Numbers that stand in charts are read there, and where the book does not print them
-- in what the players read off their aid (`read`).

drop type if exists css.piece cascade;
create type css.piece as (
  code text,
  side text,
  kind text,
  is_unit boolean,
  map_id bigint,
  q integer,
  r integer,
  label text,
  inside boolean,
  posture text,
  allegiance css.allegiance,
  service text,
  fire integer,
  fire_type text,
  range integer,
  defense integer,
  hard boolean,
  tank boolean,
  bonus_fire integer,
  bonus_tq integer,
  flame boolean,
  own_quality integer,
  dg integer,
  pinned boolean,
  suppressed boolean,
  attributes jsonb
);

comment on type css.piece is
'A counter as combat sees it, on the side on which it lies.';
comment on column css.piece.inside is 'Whether it is inside a cave, a place of its own (6.3)';
comment on column css.piece.range is 'A counter without a range has one of 1 (8.1)';
comment on column css.piece.own_quality is 'The constant Troop Quality of an HQ or Ambush Unit (3.2, 24.0)';
comment on column css.piece.dg is 'Disorganization of its own, beside that of its hex (css-78, 22.3.1)';

create or replace function css._piece(unit public.unit, label text)
returns css.piece
-- one expression and no query: it is asked of every counter that a ledger touches
language plpgsql immutable
as $$
declare
  shown constant jsonb := css._shown(unit.attributes);
begin
  return row(
    unit.code, unit.side, unit.kind, css._is_unit(unit.kind), unit.map_id, unit.q, unit.r, label,
    coalesce((unit.attributes ->> 'in_cave')::boolean, false),
    -- 24.2: an Ambush Unit is always Deployed; the front of a counter is its Deployed side
    case when unit.kind = 'ambush' then 'deployed' else coalesce(unit.attributes ->> 'posture', 'deployed') end,
    row(
      css._division(unit.attributes, unit.kind), unit.attributes ->> 'formation', css._stripe(unit.attributes, unit.kind)
    )::css.allegiance,
    unit.attributes ->> 'service',
    (shown #>> '{fire,value}')::integer,
    shown #>> '{fire,type}',
    coalesce((shown #>> '{fire,range}')::integer, 1),
    (shown ->> 'defense')::integer,
    coalesce(shown ->> 'target' in ('hard', 'tank'), unit.kind = 'tank'),
    coalesce(shown ->> 'target' = 'tank', unit.kind = 'tank'),
    coalesce((shown #>> '{bonus,fire}')::integer, 0),
    coalesce((shown #>> '{bonus,tq}')::integer, 0),
    coalesce((shown ->> 'flamethrower')::boolean, false),
    -- 24.0
    coalesce((shown ->> 'troop_quality')::integer, case when unit.kind = 'ambush' then 4 end),
    coalesce((unit.attributes ->> 'dg')::integer, 0),
    coalesce((unit.attributes ->> 'pinned')::boolean, false),
    coalesce((unit.attributes ->> 'suppressed')::boolean, false),
    shown
  )::css.piece;
end
$$;

comment on function css._piece(public.unit, text) is
'A counter as combat sees it.';

create or replace function css._piece_of(position_id bigint, code text)
returns css.piece
language plpgsql stable
as $$
declare
  found_one css.piece;
begin
  select piece.* into found_one
  from public.unit
  left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  -- once: in the list of columns it would be worked out for each of them
  cross join lateral css._piece(unit, hex.label) as piece
  where unit.position_id = _piece_of.position_id
    and unit.code = _piece_of.code;
  if not found then
    raise exception 'there is no unit % in this position', _piece_of.code using errcode = 'no_data_found';
  end if;
  return found_one;
end
$$;

comment on function css._piece_of(bigint, text) is
'The counter of that id, or an error that says that there is none.';

create or replace function css._pieces(position_id bigint, q integer, r integer, inside boolean)
returns setof css.piece
language sql stable rows 5
as $$
  select piece.*
  from public.unit
  inner join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  cross join lateral css._piece(unit, hex.label) as piece
  where unit.position_id = _pieces.position_id
    and unit.q = _pieces.q
    and unit.r = _pieces.r
    and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = _pieces.inside
  order by unit.code
$$;

drop type if exists css.stack cascade;
create type css.stack as (
  codes text array,
  pieces css.piece array
);

comment on type css.stack is
'The counters of a hex and of the cave in it, by id, and their ids.';

create or replace function css._stack(position_id bigint, q integer, r integer, label text)
returns css.stack
language plpgsql stable
as $$
declare
  found_ones css.stack;
begin
  select array_agg(unit.code order by unit.code), array_agg(piece order by unit.code)
  into found_ones.codes, found_ones.pieces
  from public.unit
  cross join lateral css._piece(unit, _stack.label) as piece
  where unit.position_id = _stack.position_id
    and unit.q = _stack.q
    and unit.r = _stack.r;
  return found_ones;
end
$$;

comment on function css._stack(bigint, integer, integer, text) is
'All counters of a hex, whose label is given, and of the cave in it; nothing where it is empty.';

create or replace function css._stack_with(position_id bigint, code text)
returns css.stack
language plpgsql stable
as $$
declare
  found_ones css.stack;
begin
  select array_agg(mate.code order by mate.code), array_agg(piece order by mate.code)
  into found_ones.codes, found_ones.pieces
  from public.unit as one
  inner join public.css_ground as hex on hex.map_id = one.map_id and hex.q = one.q and hex.r = one.r
  inner join public.unit as mate on mate.position_id = one.position_id and mate.q = one.q and mate.r = one.r
  cross join lateral css._piece(mate, hex.label) as piece
  where one.position_id = _stack_with.position_id
    and one.code = _stack_with.code;
  return found_ones;
end
$$;

comment on function css._stack_with(bigint, text) is
'All counters of the hex of a unit and of the cave in it, itself among them; nothing where it is off the map or unknown.';

create or replace function css._picked(position_id bigint, names jsonb, stack css.stack)
returns css.piece[]
language plpgsql stable
as $$
declare
  picked css.piece[] := '{}';
  n integer;
begin
  -- most of those who are named stand where the question looks anyway
  for i in 0..jsonb_array_length(names) - 1 loop
    n := array_position(stack.codes, names ->> i);
    picked := picked || case when n is null then css._piece_of(position_id, names ->> i) else stack.pieces[n] end;
  end loop;
  return picked;
end
$$;

comment on function css._picked(bigint, jsonb, css.stack) is
'Counters by their ids, in that order: out of a stack, or from wherever they are.';

comment on function css._pieces(bigint, integer, integer, boolean) is
'All counters of a place, by id.';

create or replace function css._pieces_of(position_id bigint, codes text[])
returns css.piece[]
language plpgsql stable
as $$
declare
  found_ones css.piece[];
  n integer;
begin
  if codes = '{}' then
    return '{}';
  end if;
  select array_agg(piece order by named.n) into found_ones
  from unnest(codes) with ordinality as named (code, n)
  inner join public.unit on unit.position_id = _pieces_of.position_id and unit.code = named.code
  left join public.hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
  cross join lateral css._piece(unit, hex.label) as piece;
  if cardinality(found_ones) is distinct from cardinality(codes) then
    for n in 1..cardinality(codes) loop
      perform css._piece_of(_pieces_of.position_id, codes[n]);
    end loop;
  end if;
  return found_ones;
end
$$;

comment on function css._pieces_of(bigint, text[]) is
'Counters by their ids, in that order.';

create or replace function css._belongs(one css.piece, other css.piece)
returns boolean
language sql immutable parallel safe
return coalesce(css._akin(one.allegiance, other.allegiance), true);

comment on function css._belongs(css.piece, css.piece) is
'Whether a weapon, leader or hero is of the Formation of a unit, or of all Formations of its Division (8.3.2); what is not told is not held against it.';

create or replace function css._serves_once(hero css.piece)
returns boolean
language sql immutable parallel safe
-- 14.1 d: Witek lends his values to one combat
return coalesce(hero.kind = 'hero' and hero.side = 'us' and hero.code ~* 'witek', false);

comment on function css._serves_once(css.piece) is
'Whether a hero leaves the game with the first combat in which he helps (14.1).';

create or replace function css._serves_anywhere(hero css.piece)
returns boolean
language sql immutable parallel safe
-- 14.1 d: whichever his player chooses, while he is on no hex
return css._serves_once(hero) and hero.q is null;

comment on function css._serves_anywhere(css.piece) is
'Whether a hero helps in a combat wherever it is (14.1).';

drop type if exists css.footing cascade;
create type css.footing as (
  q integer,
  r integer,
  label text,
  inside boolean,
  terrain text,
  defense integer,
  level integer,
  walls integer,
  dg integer,
  pinned boolean,
  suppressed boolean,
  barrage text,
  bombarded boolean,
  works text array,
  ridge boolean,
  lit boolean,
  concentrated boolean,
  spent boolean,
  sustaining boolean,
  desperate boolean,
  burning boolean,
  charge text,
  drink text
);

comment on type css.footing is
'A hex, or the cave in it, as combat sees it: its ground and its markers.';
comment on column css.footing.terrain is 'What its ground counts as: Rocky outside a cave (6.3), Clear where it burnt (8.8.1)';
comment on column css.footing.walls is 'What lies on its sides, as css.ground has it';
comment on column css.footing.works is 'Fortification markers, which are outside of a cave (6.3)';
comment on column css.footing.charge is 'The assault or charge marker that lies here';
comment on column css.footing.drink is 'The marker of Marines who are drunk or hungover (29.1)';

create or replace function css._footing(position_id bigint, map_id bigint, q integer, r integer, inside boolean)
returns css.footing
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  place css.footing;
  kinds text[];
begin
  select
    ground.q, ground.r, ground.label, inside, ground.terrain, printed.halves / 2, ground.level, ground.walls,
    0, false, false, null, false, '{}', false, false, false, false, false, false, false, null, null
  into place
  from public.css_ground as ground
  left join public.terrain_effect as printed
    on printed.ruleset = 'css' and printed.feature = 'terrain' and printed.code = ground.terrain
      and printed.aspect = 'defense'
  where ground.map_id = map_id
    and ground.q = q
    and ground.r = r;
  if not found then
    return null;
  end if;
  select
    max(marker.value) filter (where marker.kind = 'dg'), array_agg(marker.kind order by marker.kind)
  into place.dg, kinds
  from public.marker
  where marker.position_id = position_id
    and marker.q = q
    and marker.r = r
    -- 6.3: inside a cave is a place of its own
    and (
      marker.kind not in ('dg', 'pinned', 'suppressed')
      or coalesce((marker.attributes ->> 'in_cave')::boolean, false) = inside
    );
  place.dg := coalesce(place.dg, 0);
  if kinds is not null then
    place := css._marked_footing(place, kinds);
    if 'fire_cleared' = any(kinds) then
      place := css._burnt_footing(place, map_id);
    end if;
  end if;
  return place;
end
$$;

comment on function css._footing(bigint, bigint, integer, integer, boolean) is
'A hex, or the cave in it, with all that combat asks of it.';

create or replace function css._marked_footing(place css.footing, kinds text[])
returns css.footing
language plpgsql immutable
as $$
declare
  kind text;
begin
  foreach kind in array kinds loop
    case kind
      when 'pinned' then place.pinned := true;
      when 'suppressed' then place.suppressed := true;
      when 'bombardment' then place.bombarded := true;
      when 'foxhole', 'trench', 'pillbox', 'bunker' then
        if not place.inside then
          place.works := place.works || kind;
        end if;
      when 'ridge' then place.ridge := not place.inside;
      when 'illumination' then place.lit := true;
      when 'concentrated_fire' then place.concentrated := true;
      when 'no_opportunity_fire' then place.spent := true;
      when 'sustained_fire' then place.sustaining := true;
      when 'gyokusai' then place.desperate := true;
      when 'on_fire' then place.burning := true;
      when 'prepared_assault', 'banzai_charge', 'drunk_banzai_charge' then place.charge := kind;
      when 'drunk', 'hungover' then place.drink := kind;
      else
        -- the kinds come in order: the last is the one that counts
        if kind like '%\_barrage' then
          place.barrage := kind;
        end if;
    end case;
  end loop;
  return place;
end
$$;

comment on function css._marked_footing(css.footing, text[]) is
'A hex with what the markers on it, in order of their names, say of it.';

create or replace function css._burnt_footing(place css.footing, map_id bigint)
returns css.footing
language plpgsql stable
as $$
begin
  -- 8.8.1; outside of its cave a hex stays rocky (6.3)
  if place.terrain <> 'rocky' or not css._in_cave_hex(map_id, place.q, place.r) then
    place.terrain := 'clear';
    place.defense := (
      select effect.halves / 2
      from public.terrain_effect as effect
      where effect.ruleset = 'css' and effect.feature = 'terrain' and effect.code = 'clear' and effect.aspect = 'defense'
      limit 1
    );
  end if;
  return place;
end
$$;

comment on function css._burnt_footing(css.footing, bigint) is
'A hex where a fire has burnt: it is Clear (8.8.1).';

create or replace function css._cell(read jsonb, chart text, "row" text, "column" text)
returns text
language plpgsql stable
as $$
declare
  known record;
  told jsonb := read -> chart;
begin
  select cell.value, cell.source into known from charts.cell('css', _cell.chart, _cell."row", _cell."column") as cell;
  -- against the book nobody reads; what a house or an owner filled in gives way to what lies on the table
  if told is null or (known.value is not null and known.source = 'printed') then
    return known.value;
  end if;
  if jsonb_typeof(told) = 'object' then
    -- by its row, or the columns of the one row that is asked for
    told := coalesce(told -> "row", told);
  end if;
  if jsonb_typeof(told) = 'object' then
    told := coalesce(told -> "column", case when "column" = 'troop_quality' then told -> 'tq' end);
  end if;
  return coalesce(told #>> '{}', known.value);
end
$$;

comment on function css._cell(jsonb, text, text, text) is
'A cell of a chart, or what was read in its place: the value alone, by row, by column, or by both; null is not told.';

create or replace function css._number(cell text)
returns integer
language sql immutable parallel safe
return case when cell ~ '^[-+]?\d+$' then cell::integer when cell is not null then 0 end;

comment on function css._number(text) is
'The number in a cell; a word or a dash there adds nothing.';

create or replace function css._dg_row(dg integer)
returns text
-- not in SQL: what is asked of the greatest of several is not inlined, but planned at every call
language plpgsql immutable parallel safe
as $$
begin
  return case when dg > 0 then 'dg' || least(dg, 4) end;
end
$$;

comment on function css._dg_row(integer) is
'The row of the status summary (8.5.4) for a level of Disorganization; null without any.';

create or replace function css._quality_of(read jsonb, work text)
returns text
language sql stable
-- css-4: the example of 9.6 counts +1 for a Trench with the Troop Quality of markers
return coalesce(css._cell(read, 'fortification_values', work, 'troop_quality'), case when work = 'trench' then '1' end);

comment on function css._quality_of(jsonb, text) is
'The Troop Quality of a Fortification; null is not printed.';

create or replace function css._status_quality_steps(footing css.footing, piece css.piece, read jsonb, barraged boolean)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  -- 8.5.4, 10.2: what the markers of a place do to Troop Quality, with their sign
  select entry.*
  from (
    select
      status.marker,
      css._cell(null, 'status_marker_summary', status.marker, 'troop_quality') as value,
      format('Troop Quality under %s', status.words) as note
    from (
      values
      (
        css._dg_row(greatest(footing.dg, piece.dg)),
        'DG' || least(greatest(footing.dg, piece.dg), 4)
      ),
      (case when footing.suppressed or piece.suppressed then 'suppressed' end, 'Suppressed'),
      (case when footing.pinned or piece.pinned then 'pinned' end, 'Pinned')
    ) as status (marker, words)
    where status.marker is not null
  ) as said
  cross join lateral css._entry(
    '8.5.4', null, 'adds', said.note, said.marker, 2 * css._number(said.value), null, footing.label
  ) as entry
  where css._number(said.value) <> 0
  union all
  select entry.*
  from (
    select fort.kind, css._quality_of(read, fort.kind) as value
    from unnest(footing.works) as fort (kind)
    -- 11.1: Trenches, Pillboxes and Bunkers have one
    where fort.kind <> 'foxhole'
  ) as work
  cross join lateral css._entry(
    '11.1', null,
    case when work.value is null then 'unknown' else 'adds' end,
    case when work.value is null then 'fortification_values' else format('Troop Quality in a %s', work.kind) end,
    work.kind, 2 * css._number(work.value), null, footing.label
  ) as entry
  union all
  select entry.*
  from (select css._cell(read, 'barrage_marker_effects', footing.barrage, 'troop_quality') as value) as mark
  cross join lateral css._entry(
    '8.7.2', null,
    case when mark.value is null then 'unknown' else 'adds' end,
    case
      when mark.value is null then 'barrage_marker_effects'
      else format('Troop Quality under a %s', replace(footing.barrage, '_', ' '))
    end,
    footing.barrage, 2 * css._number(mark.value), null, footing.label
  ) as entry
  where footing.barrage is not null
    and barraged
    and css._number(mark.value) is distinct from 0
$$;

comment on function css._status_quality_steps(css.footing, css.piece, jsonb, boolean) is
'What Status Markers, Fortifications and a Barrage do to the Troop Quality of who stands there, each with its sign.';

create or replace function css._is_active(conditions jsonb, piece css.piece)
returns boolean
language sql immutable parallel safe
return case
  when conditions -> 'active' is null then null
  when jsonb_typeof(conditions -> 'active') = 'string' then conditions ->> 'active' = piece.side
  when conditions #> '{active,units}' is not null then conditions #> '{active,units}' ? piece.code
  when conditions #>> '{active,side}' is not null then conditions #>> '{active,side}' = piece.side
  -- 24.2, 26.0: on the chit of no Division and no Formation
  when css._acts_on_command_alone(piece.kind, piece.attributes) then false
  when conditions #>> '{active,division}' is distinct from (piece.allegiance).division then false
  when conditions #>> '{active,formation}' is null then true
  -- 5.1: White-Stripe Units wait for the Division; a No-Stripe one is of every Formation
  when (piece.allegiance).stripe = 'white' then false
  when (piece.allegiance).stripe = 'none' then true
  else conditions #>> '{active,formation}' = (piece.allegiance).formation
end;

comment on function css._is_active(jsonb, css.piece) is
'Whether a counter is Active (5.1); null where nothing is said of who is.';

create or replace function css._on_command(conditions jsonb)
returns boolean
language sql immutable parallel safe
return coalesce(conditions ->> 'activation' = 'direct_command', false)
or coalesce(conditions -> 'active' ?| array['side', 'units'], false);

comment on function css._on_command(jsonb) is
'Whether the Direct Command chit is in play, on which every Action is paid for (5.1, 5.3).';

create or replace function css._is_second(conditions jsonb, code text)
returns boolean
language sql immutable parallel safe
-- where nobody says which it is, what the unit has done tells
return coalesce(
  conditions ->> 'action' = 'second',
  (conditions #>> array['acted', code])::integer > 0 and not css._on_command(conditions),
  false
);

comment on function css._is_second(jsonb, text) is
'Whether the Action of a unit is its Second one, of a Division or Formation chit (5.2).';

create or replace function css._off_its_chit(conditions jsonb, code text, kind text, attributes jsonb)
returns boolean
language sql immutable parallel safe
return css._acts_on_command_alone(kind, attributes)
and (css._is_second(conditions, code) or coalesce(css._chit(conditions) in ('division', 'formation'), false))
-- 24.1: one that is named acts though the chit is another's
and not coalesce(conditions #> '{active,units}' ? code, false);

comment on function css._off_its_chit(jsonb, text, text, jsonb) is
'Whether it is the chit of a Division or Formation, or a Second Action, for one who has neither (24.2, 26.0).';

create or replace function css._is_later(conditions jsonb, code text)
returns boolean
language sql immutable parallel safe
return css._is_second(conditions, code) or css._on_command(conditions);

comment on function css._is_later(jsonb, text) is
'Whether it is no First Action of a Division or Formation (27.0).';

create or replace function css._cost(conditions jsonb, actors css.piece[])
returns jsonb
language plpgsql stable
as $$
declare
  actor css.piece;
  payer text;
  bill jsonb := '{}';
begin
  if not (conditions ?| array['action', 'acted', 'activation', 'active']) then
    return bill;
  end if;
  -- without a query, which takes longer to start than all this
  foreach actor in array actors loop
    if css._is_second(conditions, actor.code)
      -- who has been paid for already is Active by name
      or css._on_command(conditions) and not coalesce(conditions #> '{active,units}' ? actor.code, false) then
      payer := coalesce(css._chosen_payer(actor.kind, actor.attributes), (actor.allegiance).division, '');
      bill := bill || jsonb_build_object(payer, coalesce((bill ->> payer)::integer, 0) + css._command_cost(conditions));
    end if;
  end loop;
  return bill;
end
$$;

comment on function css._cost(jsonb, css.piece[]) is
'Direct Commands that an Action of these units costs, by Division (5.2, 8.2).';

create or replace function css._actor_bars(state positions.state, actors css.piece[])
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  now constant jsonb := state.conditions;
  actor css.piece;
  bars rulings.ledger_step[] := '{}';
  bill jsonb;
begin
  -- 5.1, 5.2: who acts is Active, has an Action left, and for a Second one is In-Command
  foreach actor in array actors loop
    if not css._is_active(now, actor) then
      bars := bars || css._entry(
        '5.1', null, 'forbids', format('%s is not Active', actor.code), actor.code, null, null, actor.label
      );
    end if;
  end loop;
  foreach actor in array actors loop
    if css._off_its_chit(now, actor.code, actor.kind, actor.attributes) then
      bars := bars || css._entry(
        case when actor.kind = 'ambush' then '24.2' else '26.0' end, null, 'forbids',
        format('%s acts on the Direct Command chit alone', actor.code), actor.code, null, null, actor.label
      );
    end if;
  end loop;
  foreach actor in array actors loop
    if (now #>> array['acted', actor.code])::integer > css._is_second(now, actor.code)::integer then
      bars := bars || css._entry(
        '5.2', null, 'forbids', format('%s has done its Actions', actor.code), actor.code, null, null, actor.label
      );
    end if;
  end loop;
  foreach actor in array actors loop
    if css._is_second(now, actor.code) and exists (
      select
      from css.command(state.position_id, actor.code, now, state.readings) as told
      where told.effect = 'out of command'
    ) then
      bars := bars || css._entry(
        '5.2', null, 'forbids', format('%s is not In-Command', actor.code), actor.code, null, null, actor.label
      );
    end if;
  end loop;
  bill := css._cost(now, actors);
  if bill <> '{}' then
    bars := bars || css._bill_bars(state, bill);
  end if;
  return bars;
end
$$;

comment on function css._actor_bars(positions.state, css.piece[]) is
'What keeps units from an Action: not Active, nothing left to do, out of command, or no Direct Command to pay (5.1, 5.2).';

create or replace function css._bill_bars(state positions.state, bill jsonb)
returns rulings.ledger_step[]
language plpgsql stable
as $$
begin
  return array(
    select css._entry(
      '5.2', null, 'forbids',
      format(
        '%s has no %s left', owed.division,
        case when owed.commands::integer = 1 then 'Direct Command' else owed.commands || ' Direct Commands' end
      ),
      owed.division
    )
    from jsonb_each_text(bill) as owed (division, commands)
    inner join css._displays(state) as display on display.name = owed.division
    where display.direct_commands < owed.commands::integer
  );
end
$$;

comment on function css._bill_bars(positions.state, jsonb) is
'The Divisions that cannot pay what an Action costs them (5.2).';

create or replace function css._quality(state positions.state, piece css.piece, into_terrain text, read jsonb)
returns setof rulings.ledger_step
language plpgsql stable rows 2
as $$
begin
  return query
  -- 3.2, 24.0: constant; else the current value of the Division (19.2)
  select entry.*
  from (
    select
      coalesce(
        piece.own_quality,
        css._division_quality(state, (piece.allegiance).division),
        css._number(css._cell(read, 'division_displays', (piece.allegiance).division, 'troop_quality'))
      ) as quality
  ) as told
  cross join lateral css._entry(
    case when piece.own_quality is not null then '3.2' else '19.2' end, null,
    case when told.quality is null then 'unknown' else 'quality' end,
    case
      when told.quality is null then 'division_displays'
      when piece.own_quality is not null then format('%s has a Troop Quality of its own', piece.code)
      else format('the current Troop Quality of %s', (piece.allegiance).division)
    end,
    piece.code, 2 * told.quality, null, piece.label
  ) as entry
  union all
  select entry.*
  from css._entry(
    '6.2.1', null, 'quality', 'Americans in Tropical Forest', piece.code, -4, null, piece.label
  ) as entry
  where piece.side = 'us'
    and piece.own_quality is null
    and into_terrain = 'tropical_forest';
end
$$;

comment on function css._quality(positions.state, css.piece, text, jsonb) is
'The Troop Quality of a unit as entries that add up to it: its own or its Division''s, and Tropical Forest (6.2.1).';
