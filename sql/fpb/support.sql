-- needs: fpb/stack.sql
-- Support markers in fpb (Forgotten Pacific Battles): what lies in a cup, and what becomes of a marker: 7.2, 16.2.2, 17.0, 17.1, 18.1.
--
-- A marker is {value, type, single_use}; one that was withheld for the first game turn says so.

drop type if exists fpb.support_marker cascade;
create type fpb.support_marker as (
  n integer,
  value integer,
  kind text,
  single_use boolean,
  withheld boolean,
  used boolean,
  told jsonb
);

comment on type fpb.support_marker is
'A support marker as it was placed: the how-manieth, what it adds, of which kind, and the marker itself as it was told.';

create or replace function fpb._support_markers(markers jsonb)
returns setof fpb.support_marker
language sql immutable parallel safe rows 2
as $$
  select
    marker.n::integer,
    (marker.told ->> 'value')::integer,
    marker.told ->> 'type',
    -- 17.0: naval gunfire and Banzai markers serve once
    coalesce((marker.told ->> 'single_use')::boolean, false) or coalesce(marker.told ->> 'type' in ('naval', 'banzai'), false),
    coalesce((marker.told ->> 'withheld')::boolean, false),
    coalesce((marker.told ->> 'used')::boolean, false),
    marker.told
  from jsonb_array_elements(coalesce(markers, '[]')) with ordinality as marker (told, n)
$$;

comment on function fpb._support_markers(jsonb) is
'Markers, in the order in which they were placed (8.2.1 b, 17.0).';

create or replace function fpb._marker_bar(
  state positions.state, marker fpb.support_marker, side text, purpose text
)
returns text
language sql stable parallel safe
return case
  when marker.used then 'used'
  -- 17.1; fpb-8 b: unless it was withheld
  when
    side = 'us' and marker.kind = 'naval' and marker.value = 10 and purpose <> 'defense'
    and not (marker.withheld and purpose = 'bombardment' and state.readings ->> 'fpb-8' = 'b')
    then '17.1'
  -- 18.1(3)
  when
    side = 'us' and marker.kind = 'naval' and purpose = 'bombardment' and not marker.withheld
    and (state.conditions ->> 'turn')::integer = 1
    then '18.1'
end;

comment on function fpb._marker_bar(positions.state, fpb.support_marker, text, text) is
'Why a marker that came up does not serve: used in this game turn, or the rule that keeps it out; null where it serves.';

create or replace function fpb.spent_markers(
  position_id bigint, side text, purpose text, markers jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    fate.rule,
    null,
    null,
    fate.effect,
    format(fate.note, marker.value),
    fate.point,
    spent_markers.side,
    2 * marker.value,
    marker.told
  from positions.state(spent_markers.position_id, spent_markers.conditions, spent_markers.policy) as state
  cross join lateral fpb._support_markers(spent_markers.markers) as marker
  cross join lateral (
    select fpb._marker_bar(state, marker, spent_markers.side, spent_markers.purpose) as rule
  ) as bar
  cross join lateral (
    select *
    from (
      values
      (1, bar.rule = 'used', '7.2', 'barred', '+%s has served in this game turn', 'fpb-9'),
      (
        2, bar.rule = '17.1', '17.1', 'returned', 'naval +%s serves in the defense alone',
        case when marker.withheld then 'fpb-8' end
      ),
      (3, bar.rule = '18.1', '18.1', 'returned', 'naval +%s was not withheld for this game turn', 'fpb-45'),
      -- 17.0; fpb-7 b: what was not withheld serves again
      (
        4,
        marker.single_use and not (marker.kind is not distinct from 'naval' and not marker.withheld and state.readings ->> 'fpb-7' = 'b'),
        '17.0', 'removed', '+%s serves once in a scenario',
        case when marker.kind = 'naval' and not marker.withheld then 'fpb-7' end
      ),
      (
        5, true, '7.2', 'set aside', '+%s has served for this game turn',
        case when marker.kind = 'naval' and not marker.withheld then 'fpb-7' end
      )
    ) as entry (n, speaks, rule, effect, note, point)
    where entry.speaks
    order by entry.n
    limit 1
  ) as fate
  order by marker.n
$$;

comment on function fpb.spent_markers(bigint, text, text, jsonb, jsonb, jsonb) is
'What becomes of each marker that came up: set aside, removed for good, or returned to the cup unused (7.2, 17.0, 17.1, 18.1).';

create or replace function fpb._kept_beside(position_id bigint, conditions jsonb, island text)
returns table (root text[], tracks jsonb)
language sql stable parallel safe rows 1
as $$
  select
    case when several.island is null then '{}'::text[] else array['islands', several.island] end,
    case when several.island is null then position.tracks else position.tracks #> array['islands', several.island] end
  from public.position
  cross join lateral (
    select coalesce(_kept_beside.island, coalesce(_kept_beside.conditions, position.conditions) ->> 'island') as island
    where position.tracks ? 'islands'
    union all
    select null where not position.tracks ? 'islands'
  ) as several
  where position.id = _kept_beside.position_id
$$;

comment on function fpb._kept_beside(bigint, jsonb, text) is
'The tracks of an island, and where they are: at the top, or among those of several islands (18.1).';

create or replace function fpb.cup(
  position_id bigint,
  side text,
  purpose text,
  island text default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  state positions.state;
  place record;
  fresh jsonb;
  used jsonb;
  pool jsonb;
  naval boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  select * into place from fpb._kept_beside(position_id, conditions, island);
  fresh := coalesce(place.tracks #> array['cup', side], '[]');
  used := coalesce(place.tracks #> array['used', side], '[]');
  naval := side = 'us' and purpose = 'bombardment' and (state.conditions ->> 'turn')::integer = 1
    and exists (select from fpb._support_markers(fresh) as marker where marker.kind = 'naval');
  -- fpb-9 b: back at once, but it serves no more; fpb-45 c: naval markers are kept out
  select coalesce(jsonb_agg(lying.told order by (lying.told ->> 'value')::integer, lying.told::text), '[]')
  into pool
  from (
    select marker.told
    from fpb._support_markers(fresh) as marker
    where not (naval and state.readings ->> 'fpb-45' = 'c' and marker.kind is not distinct from 'naval')
    union all
    select marker.told || '{"used": true}'
    from fpb._support_markers(used) as marker
    where state.readings ->> 'fpb-9' = 'b'
  ) as lying;
  return next row(
    '17.0', null, null, case state.readings ->> 'fpb-6' when 'a' then 'blind' when 'b' then 'hand' else 'lowest first' end,
    'how markers are taken from the cup', 'fpb-6', side, null, null
  )::rulings.ledger_step;
  if jsonb_array_length(used) > 0 then
    return next row(
      '7.2', null, null, case state.readings ->> 'fpb-9' when 'b' then 'in the cup' else 'kept apart' end,
      'markers that have served in this game turn', 'fpb-9', side, null, null
    )::rulings.ledger_step;
  end if;
  if naval then
    return next row(
      '18.1', null, null, case state.readings ->> 'fpb-45' when 'c' then 'kept out' else 'in the cup' end,
      'naval markers that were not withheld', 'fpb-45', side, null, null
    )::rulings.ledger_step;
  end if;
  return next row(
    '17.0', null, null, 'cup', format('%s markers', jsonb_array_length(pool)), null, side, null,
    jsonb_build_object(
      'told', coalesce(place.tracks ? 'cup', false),
      'pool', pool,
      'way', case state.readings ->> 'fpb-6' when 'a' then 'blind' when 'b' then 'hand' else 'lowest' end,
      'root', place.root,
      'again', coalesce(state.readings ->> 'fpb-45' = 'b', false)
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.cup(bigint, text, text, text, jsonb, jsonb) is
'What lies in a side''s cup and can come up now, and how it is taken; the cup last (17.0, fpb-6, fpb-9, fpb-45).';

create or replace function fpb.entitlement(
  position_id bigint,
  side text,
  purpose text,
  number integer,
  banzai boolean default false,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 3
as $$
#variable_conflict use_variable
declare
  state positions.state;
  step rulings.ledger_step;
  fewest integer := 0;
  most integer := 2;
  bar rulings.ledger_step;
begin
  select * into state from positions.state(position_id, conditions, policy);
  for step in
    select entry.rule, null, null, entry.effect, entry.note, entry.point, side, entry.halves, null
    from (
      select
        coalesce(state.conditions ->> 'mode' = 'solitaire', false) as alone,
        coalesce(state.conditions ->> 'phase' = 'bombardment', false) and purpose = 'defense' as shelled
    ) as now
    cross join lateral (
      values
      (1, purpose = 'bombardment', '8.1', 'most', 'markers on one hex in a player turn', null, 4),
      (2, purpose <> 'bombardment', '8.2.1', 'most', 'markers of a side in an attack', null, 4),
      (
        3, now.alone and side = 'japan' and purpose = 'bombardment',
        '16.2.2', 'forbids', 'Japanese markers do not bombard in solitaire play', null, 0
      ),
      (
        4, now.shelled, '8.1.2',
        case
          when state.readings ->> 'fpb-35' = 'b' or (state.readings ->> 'fpb-35' = 'c' and now.alone and side = 'japan')
            then 'passes'
          else 'forbids'
        end,
        'markers of the defender against a bombardment', 'fpb-35', 0
      ),
      (
        5, banzai, '15.0',
        case when now.alone and side = 'japan' and state.readings ->> 'fpb-10' = 'b' then 'passes' else 'forbids' end,
        'nobody supports a Banzai attack',
        case when now.alone and side = 'japan' then 'fpb-10' end, 0
      ),
      (
        6,
        now.alone and side = 'japan' and purpose <> 'bombardment'
        and not (now.shelled and state.readings ->> 'fpb-35' = 'a')
        and not (banzai and state.readings ->> 'fpb-10' = 'a'),
        '16.2.2', 'always', 'two Japanese markers in solitaire play', null, 4
      )
    ) as entry (n, speaks, rule, effect, note, point, halves)
    where entry.speaks
    order by entry.n
  loop
    if step.effect = 'forbids' then
      most := 0;
      bar := step;
    elsif step.effect = 'always' then
      fewest := 2;
    end if;
    return next step;
  end loop;
  return next row(
    coalesce(bar.rule, '8.2.1'), null, null,
    case when coalesce(number, fewest) between fewest and most then 'allowed' else 'forbids' end,
    case
      when number > most and most = 0 then bar.note
      when number > most then format('at most %s markers', most)
      when number < fewest then format('%s markers are drawn, no fewer', fewest)
      when number is null then format('from %s to %s markers', fewest, most)
      else format('%s markers', number)
    end,
    null, side, null,
    jsonb_build_object(
      'least', fewest,
      'most', most,
      'number', coalesce(number, case when fewest > 0 then fewest else least(1, most) end)
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.entitlement(bigint, text, text, integer, boolean, jsonb, jsonb) is
'How many markers a side may or must take for an attack, a defense or a bombardment; the verdict last (8.1, 8.2.1, 15.0, 16.2.2).';
